/** Where compiling was interrupted, and what was compiled again: limits, breaks and recompilations over the steps. */
import React from 'react';

import { Empty } from '../../components/empty';
import { ILane, IMoment, IStepRange, Timeline } from '../../components/timeline';
import { count } from '../../format';
import { IViewProps } from '../../tokens';
import { Gaps } from '../gaps';
import { whyNothing } from '../nothing';
import { BreakCard, LimitCard } from './cards';
import { eventsOf, findingsOf, IEvents, inRange, limitId, momentsOf, unplaced } from './events';
import { RecompilationTable } from './recompilations';

export function BreaksView(props: IViewProps): JSX.Element {
  const { report, trans, width, selection, onSelect } = props;
  const events = React.useMemo(() => eventsOf(report), [report]);
  const findings = React.useMemo(() => findingsOf(report), [report]);
  const moments = React.useMemo(() => momentsOf(events, trans), [events, trans]);
  const [range, setRange] = React.useState<IStepRange | null>(null);

  const { limits, breaks, recompilations } = events;
  if (limits.length + breaks.length + recompilations.length === 0) {
    return <Nothing {...props} events={events} />;
  }

  const lanes: ILane[] = [
    ...(breaks.length > 0 ? [{ key: 'break', title: trans.__('Breaks'), shape: 'diamond' } as const] : []),
    ...(recompilations.length > 0
      ? [{ key: 'recompilation', title: trans.__('Recompiled'), shape: 'triangle' } as const]
      : []),
    ...(limits.length > 0 ? [{ key: 'limit', title: trans.__('Limit'), shape: 'octagon' } as const] : [])
  ];
  const pick = (picked: readonly IMoment[]): void => {
    const steps = picked.map(moment => moment.step);
    const next = { from: Math.min(...steps), to: Math.max(...steps) };
    const again = range !== null && range.from === next.from && range.to === next.to;
    setRange(again ? null : next);
    onSelect({ event: again ? null : picked[0].id });
  };
  const choose = (id: string): void => onSelect({ event: selection.event === id ? null : id });
  const shown = inRange(events, range);
  const lost = unplaced(events);

  return (
    <div className={`stc-Breaks stc-mod-${width}`}>
      <p className="stc-Breaks-sentence">{sentence(events, trans)}</p>
      {moments.length > 0 && (
        <Timeline
          label={trans.__('Breaks and recompilations over the steps')}
          lanes={lanes}
          moments={moments}
          total={report.steps.total}
          selected={selection.event}
          range={range}
          onPick={pick}
          onRange={next => {
            setRange(next);
            if (next === null) {
              onSelect({ event: null });
            }
          }}
        />
      )}
      {lost > 0 && (
        <p className="stc-Note">
          {trans._n(
            'Of %1 event it is not known in which step it was.',
            'Of %1 events it is not known in which step they were.',
            lost
          )}
        </p>
      )}
      <div role="status" className="stc-Breaks-range">
        {range !== null && (
          <button
            type="button"
            className="stc-FilterChip"
            aria-label={trans.__('Show the events of all steps')}
            onClick={() => {
              setRange(null);
              onSelect({ event: null });
            }}
          >
            {range.from === range.to
              ? trans.__('Step %1', count(range.from + 1))
              : trans.__('Steps %1 to %2', count(range.from + 1), count(range.to + 1))}{' '}
            <span aria-hidden="true">✕</span>
          </button>
        )}
      </div>
      {shown.limits.length > 0 && (
        <ul className="stc-Events">
          {shown.limits.map(limit => (
            <LimitCard
              key={limitId(limit)}
              limit={limit}
              finding={findings.get(limitId(limit)) ?? null}
              selected={selection.event === limitId(limit)}
              onSelect={() => choose(limitId(limit))}
            />
          ))}
        </ul>
      )}
      <section className="stc-Section">
        <Heading
          title={trans.__('Graph breaks')}
          shown={shown.breaks.length}
          all={breaks.length}
          {...props}
        />
        {breaks.length === 0 && <p className="stc-Note">{noBreaks(props)}</p>}
        <ul className="stc-Events">
          {shown.breaks.map(broken => (
            <BreakCard
              key={broken.id}
              broken={broken}
              finding={findings.get(broken.id) ?? null}
              selected={selection.event === broken.id}
              onSelect={() => choose(broken.id)}
            />
          ))}
        </ul>
      </section>
      <section className="stc-Section">
        <Heading
          title={trans.__('Recompilations')}
          shown={shown.recompilations.length}
          all={recompilations.length}
          {...props}
        />
        {recompilations.length === 0 ? (
          <p className="stc-Note">{trans.__('Every guard held: nothing was compiled again.')}</p>
        ) : (
          shown.recompilations.length > 0 && (
            <RecompilationTable
              rows={shown.recompilations}
              findings={findings}
              width={width}
              selected={selection.event}
              onSelect={id => (id === null ? onSelect({ event: null }) : choose(id))}
            />
          )
        )}
      </section>
      <Benign events={events} {...props} />
      <Gaps gaps={report.compile.gaps} />
    </div>
  );
}

interface IHeadingProps extends IViewProps {
  title: string;
  shown: number;
  all: number;
}

function Heading({ title, shown, all, trans }: IHeadingProps): JSX.Element {
  return (
    <header className="stc-Section-head">
      <h3>{title}</h3>
      <span className="stc-Count">
        {shown === all ? count(all) : trans.__('%1 of %2', count(shown), count(all))}
      </span>
    </header>
  );
}

function sentence({ limits, breaks, recompilations }: IEvents, trans: IViewProps['trans']): string {
  const parts = [
    breaks.length > 0 ? trans._n('%1 line breaks the graph', '%1 lines break the graph', breaks.length) : '',
    recompilations.length > 0 ? trans._n('%1 recompilation', '%1 recompilations', recompilations.length) : '',
    limits.length > 0
      ? trans._n(
          '%1 function is not compiled any more',
          '%1 functions are not compiled any more',
          limits.length
        )
      : ''
  ].filter(Boolean);
  return `${parts.join(', ')}.`;
}

function noBreaks({ report, trans }: IViewProps): string {
  return report.run.status === 'running'
    ? trans.__('None so far.')
    : trans.__('Every function that was compiled went through as a whole.');
}

/** No events: say whether that is good, or because nothing was compiled at all. */
function Nothing(props: IViewProps & { events: IEvents }): JSX.Element {
  const { report, trans } = props;
  const { graphs } = report.compile;
  if (graphs.length === 0) {
    const { title, reason } = whyNothing(report, trans);
    return <Empty title={title} reason={reason} />;
  }
  const running = report.run.status === 'running';
  return (
    <div className="stc-Breaks">
      <Empty
        title={running ? trans.__('No breaks so far') : trans.__('No breaks, nothing compiled twice')}
        reason={
          running
            ? trans._n(
                '%1 graph is compiled; no guard has failed.',
                '%1 graphs are compiled; no guard has failed.',
                graphs.length
              )
            : trans._n(
                'Its %1 graph was compiled once and served the whole run.',
                'Its %1 graphs were compiled once and served the whole run.',
                graphs.length
              )
        }
      />
      <Benign {...props} />
      <Gaps gaps={report.compile.gaps} />
    </div>
  );
}

/** torch's own, folded: they are in every run with a compiled optimizer. */
function Benign({ events, trans }: IViewProps & { events: IEvents }): JSX.Element | null {
  const { benignBreaks, benignRecompilations } = events;
  const total = benignBreaks.reduce((sum, one) => sum + one.count, 0) + benignRecompilations.length;
  if (total === 0) {
    return null;
  }
  return (
    <details className="stc-Details stc-Breaks-benign">
      <summary>{trans._n("%1 of torch's own, harmless", "%1 of torch's own, harmless", total)}</summary>
      <ul className="stc-Events">
        {benignBreaks.map(broken => (
          <BreakCard key={broken.id} broken={broken} finding={null} selected={false} />
        ))}
      </ul>
      {benignRecompilations.length > 0 && (
        <ul>
          {benignRecompilations.map(one => (
            <li key={one.id}>
              <code>{one.guard}</code> <span className="stc-mod-note">{one.function}</span>
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
