/** A limit or a break in full: what happened, where, how often, and what to do about it. */
import React from 'react';

import { LocationChip } from '../../components/chip';
import { usePanel } from '../../components/context';
import { CopyableCode } from '../../components/copyable';
import { Figure } from '../../components/number';
import { LaneMark } from '../../components/timeline';
import { Words } from '../../components/words';
import { count } from '../../format';
import { Break, Finding, Limit } from '../../records';
import { stepList } from './events';

interface ICardProps {
  selected: boolean;
  finding: Finding | null;
  /** Left out where there is nothing to pick it out of. */
  onSelect?: () => void;
}

/** What happened; pressing it shows when, in the timeline. */
function Title({
  text,
  selected,
  onSelect
}: { text: string } & Pick<ICardProps, 'selected' | 'onSelect'>): JSX.Element {
  return onSelect ? (
    <button type="button" className="stc-Event-title" aria-pressed={selected} onClick={onSelect}>
      <Words text={text} />
    </button>
  ) : (
    <span className="stc-Event-title">
      <Words text={text} />
    </span>
  );
}

/** Comes into sight when it is picked out. */
function useInSight(selected: boolean): React.RefObject<HTMLLIElement> {
  const element = React.useRef<HTMLLIElement>(null);
  React.useEffect(() => {
    if (selected) {
      element.current?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [selected]);
  return element;
}

const cardClass = (kind: string, selected: boolean): string =>
  `stc-Event stc-mod-${kind} ${selected ? 'stc-mod-selected' : ''}`;

export function LimitCard({
  limit,
  selected,
  finding,
  onSelect
}: ICardProps & { limit: Limit }): JSX.Element {
  const { trans } = usePanel();
  const element = useInSight(selected);
  const since =
    limit.call !== null
      ? trans.__('`%1` is not compiled any more from call %2 on', limit.function, count(limit.call))
      : trans.__('`%1` is not compiled any more', limit.function);
  return (
    <li ref={element} className={cardClass('limit', selected)}>
      <div className="stc-Event-head">
        <LaneMark shape="octagon" />
        <Title text={since} selected={selected} onSelect={onSelect} />
        {limit.location && <LocationChip location={limit.location} />}
      </div>
      <p>
        <Words
          text={
            limit.guard !== null
              ? trans.__(
                  'It was compiled %1 times, as often as torch allows. The guard that kept failing: `%2`',
                  count(limit.limit),
                  limit.guard
                )
              : trans.__('It was compiled %1 times, as often as torch allows.', count(limit.limit))
          }
        />
        {limit.step !== null && (
          <span className="stc-mod-note"> {trans.__('Step %1.', count(limit.step + 1))}</span>
        )}
      </p>
      <NextStep finding={finding} />
    </li>
  );
}

export function BreakCard({
  broken,
  selected,
  finding,
  onSelect
}: ICardProps & { broken: Break }): JSX.Element {
  const { trans } = usePanel();
  const element = useInSight(selected);
  const kind: string = broken.kind;
  return (
    <li ref={element} className={cardClass('break', selected)}>
      <div className="stc-Event-head">
        <LaneMark shape="diamond" />
        <Title text={broken.reason} selected={selected} onSelect={onSelect} />
        {broken.location && <LocationChip location={broken.location} />}
      </div>
      {broken.location?.text && <code className="stc-Event-code">{broken.location.text.trim()}</code>}
      <p className="stc-Event-facts">
        {kind === 'frame-skipped' && <span>{trans.__('The whole function stayed eager.')}</span>}
        <Figure text={trans._n('%1 time', '%1 times', broken.count)} name="compile.breaks.count" />
        {broken.steps.length > 0 && (
          <span>
            {new Set(broken.steps).size === 1
              ? trans.__('step %1', stepList(broken.steps))
              : trans.__('steps %1', stepList(broken.steps))}
          </span>
        )}
      </p>
      <NextStep finding={finding} />
      {broken.hints.length > 0 && (
        <details className="stc-Details">
          <summary>{trans._n("torch's hint", "torch's hints (%1)", broken.hints.length)}</summary>
          <ul>
            {broken.hints.map(hint => (
              <li key={hint}>
                <Words text={hint} />
              </li>
            ))}
          </ul>
        </details>
      )}
      {broken.detail && (
        <details className="stc-Details">
          <summary>{trans.__("torch's words")}</summary>
          <pre>{broken.detail}</pre>
        </details>
      )}
      {broken.stack.length > 0 && (
        <details className="stc-Details">
          <summary>
            {trans._n('Called from (%1 frame)', 'Called from (%1 frames)', broken.stack.length)}
          </summary>
          <ol className="stc-Stack">
            {broken.stack.map((location, index) => (
              <li key={index}>
                <LocationChip location={location} />
                {location.text && <code>{location.text.trim()}</code>}
              </li>
            ))}
          </ol>
        </details>
      )}
    </li>
  );
}

export function NextStep({ finding }: { finding: Finding | null }): JSX.Element | null {
  const { trans } = usePanel();
  const next = finding?.next_step;
  if (!next) {
    return null;
  }
  return (
    <div className="stc-NextStep">
      <h4>{trans.__('What to do')}</h4>
      <p>
        <Words text={next.text} />
      </p>
      {next.code && <CopyableCode code={next.code} />}
    </div>
  );
}
