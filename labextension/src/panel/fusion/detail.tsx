/** One kernel in full: its operations by loop nest and line, what it was not fused with and why, its buffers, its code. */
import React from 'react';

import { LocationChip } from '../../components/chip';
import { usePanel } from '../../components/context';
import { Figure } from '../../components/number';
import { Words } from '../../components/words';
import { bytes, count, percent, UNKNOWN } from '../../format';
import { IStcModel } from '../../tokens';
import { KernelBlock, KindBadge, kindWords, phaseWords } from './blocks';
import {
  byLine,
  groupCount,
  IKernelRow,
  IKernels,
  ILineOps,
  INeighbours,
  neighboursOf,
  nestsOf,
  shortName,
  shortOp,
  together
} from './kernels';
import { KernelCode } from './kernelcode';
import { Layouts } from './layouts';

export interface IKernelDetailProps {
  row: IKernelRow;
  kernels: IKernels;
  model: IStcModel;
  runId: string;
  width: 'narrow' | 'wide';
  onOpen: (row: IKernelRow) => void;
  onBack: () => void;
}

export function KernelDetail(props: IKernelDetailProps): JSX.Element {
  const { row, kernels, onBack, onOpen } = props;
  const { trans } = usePanel();
  const { kernel, graph } = row;
  const heading = React.useRef<HTMLHeadingElement>(null);

  // The focus goes with the reader, unless it is at work elsewhere, as in the code beside.
  React.useEffect(() => {
    const focused = document.activeElement;
    if (focused === null || focused === document.body || !focused.closest('.stc-Lens')) {
      heading.current?.focus({ preventScroll: true });
    }
    heading.current?.scrollIntoView?.({ block: 'nearest' });
  }, [kernel.id]);

  const previous = kernels.rows[row.order - 1];
  const next = kernels.rows[row.order + 1];
  return (
    <article className="stc-Kernel" aria-label={trans.__('Kernel %1', row.label)}>
      <nav className="stc-Kernel-nav">
        <button type="button" className="stc-Link" onClick={onBack}>
          {trans.__('‹ All kernels')}
        </button>
        <span className="stc-Kernel-steps">
          <button
            type="button"
            className="stc-Button"
            disabled={!previous}
            aria-label={trans.__('Previous kernel')}
            onClick={() => onOpen(previous)}
          >
            ↑
          </button>
          <button
            type="button"
            className="stc-Button"
            disabled={!next}
            aria-label={trans.__('Next kernel')}
            onClick={() => onOpen(next)}
          >
            ↓
          </button>
        </span>
      </nav>
      <h3 ref={heading} tabIndex={-1} className="stc-Kernel-title">
        <KernelBlock row={row} />
        <span>{shortName(kernel.name)}</span>
        <KindBadge kind={kernel.kind} trans={trans} />
      </h3>
      <p className="stc-Kernel-full">
        <code>{kernel.name}</code>
      </p>
      <p className="stc-Kernel-origin">
        {trans.__('Of the %1 graph of %2', phaseWords(graph.phase, trans), graph.name ?? graph.id)}
        {' · '}
        {kindWords(kernel.kind, trans).meaning}
      </p>
      <dl className="stc-Kernel-figures">
        <Fact label={trans.__('Operations')} text={count(kernel.ops.length)} name="compile.kernels.ops" />
        <Fact
          label={trans.__('Bytes in')}
          text={bytes(kernel.bytes_read)}
          name="compile.kernels.bytes_read"
        />
        <Fact
          label={trans.__('Bytes out')}
          text={bytes(kernel.bytes_written)}
          name="compile.kernels.bytes_written"
        />
        <Fact label={trans.__('Share')} text={percent(row.share)} name="compile.kernels.share" />
        <Fact
          label={trans.__('Groups')}
          text={groupCount(kernel) === null ? UNKNOWN : count(groupCount(kernel))}
          name="compile.kernels.groups"
        />
      </dl>
      {kernel.notes.map(note => (
        <p key={note} className="stc-Note">
          <Words text={note} />
        </p>
      ))}
      <Operations row={row} />
      <Neighbours {...props} />
      <Layouts kernel={kernel} width={props.width} />
      <KernelCode kernel={kernel} whole={graph.code} model={props.model} runId={props.runId} />
    </article>
  );
}

function Fact({ label, text, name }: { label: string; text: string; name: string }): JSX.Element {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <Figure text={text} name={name} focusable />
      </dd>
    </div>
  );
}

function Operations({ row }: { row: IKernelRow }): JSX.Element {
  const { trans } = usePanel();
  const { kernel } = row;
  const nests = nestsOf(kernel);
  const several = kernel.groups.length > 1;
  return (
    <section className="stc-Section">
      <h4>{trans.__('Operations')}</h4>
      {kernel.ops.length === 0 && kernel.notes.length === 0 && (
        <p className="stc-Note">{trans.__('Its operations were not recorded.')}</p>
      )}
      {several && (
        <p className="stc-Note">
          {trans.__(
            'The function holds %1 loop nests. Operations of one group are fused; different groups pass their results through memory or cache.',
            kernel.groups.length
          )}
        </p>
      )}
      {nests.map((nest, index) => (
        <div key={index} className={several ? 'stc-Nest' : undefined}>
          {several && (
            <h5>
              {nest.group === null ? trans.__('In no group') : trans.__('Group %1', nest.group + 1)}
              <span className="stc-mod-note">
                {nest.ops.length > 0 || (kernel.ops.length === 0 && kernel.notes.length > 0)
                  ? trans._n('%1 operation', '%1 operations', nest.ops.length)
                  : trans.__('operations not recorded')}
              </span>
            </h5>
          )}
          <ul className="stc-Ops">
            {byLine(nest.ops).map((line, at) => (
              <OpsOfLine key={at} line={line} />
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

/** "mul ×2": the same operation twice in a row is written once. */
function inRuns(ops: ILineOps['ops']): { name: string; nodes: string[]; times: number }[] {
  const found: { name: string; nodes: string[]; times: number }[] = [];
  for (const op of ops) {
    const last = found[found.length - 1];
    if (last?.name === op.name) {
      last.times += 1;
      last.nodes.push(op.node ?? '');
    } else {
      found.push({ name: op.name, nodes: [op.node ?? ''], times: 1 });
    }
  }
  return found;
}

function OpsOfLine({ line }: { line: ILineOps }): JSX.Element {
  const { trans } = usePanel();
  const { location } = line;
  return (
    <li>
      <div className="stc-Ops-line">
        {location ? (
          <>
            <LocationChip location={location} />
            {location.text && <code className="stc-Ops-text">{location.text.trim()}</code>}
          </>
        ) : (
          <span className="stc-mod-note">{trans.__('No line of yours')}</span>
        )}
      </div>
      <div className="stc-Ops-names">
        {inRuns(line.ops).map((run, index) => (
          <code key={index} className="stc-Op" title={[run.name, ...run.nodes.filter(Boolean)].join('\n')}>
            {shortOp(run.name)}
            {run.times > 1 && <span className="stc-Op-times">{` ×${run.times}`}</span>}
          </code>
        ))}
      </div>
    </li>
  );
}

function Neighbours({ row, kernels, onOpen }: IKernelDetailProps): JSX.Element {
  const { trans } = usePanel();
  const neighbours = React.useMemo(() => together(neighboursOf(row, kernels)), [row, kernels]);
  const [all, setAll] = React.useState(false);
  const shown = all ? neighbours : neighbours.slice(0, NEIGHBOURS_AT_FIRST);
  return (
    <section className="stc-Section">
      <h4>{trans.__('Not fused with')}</h4>
      {neighbours.length === 0 ? (
        <p className="stc-Note">
          {trans.__('No neighbour that it could have been fused with was recorded.')}
        </p>
      ) : (
        <ul className="stc-Neighbours">
          {shown.map((neighbour, index) => (
            <Neighbour
              key={index}
              neighbour={neighbour}
              several={row.kernel.groups.length > 1}
              onOpen={onOpen}
            />
          ))}
        </ul>
      )}
      {shown.length < neighbours.length && (
        <button type="button" className="stc-Link" onClick={() => setAll(true)}>
          {trans.__('Show %1 more', neighbours.length - shown.length)}
        </button>
      )}
    </section>
  );
}

const NEIGHBOURS_AT_FIRST = 8;

function Neighbour({
  neighbour,
  several,
  onOpen
}: {
  neighbour: INeighbours;
  /** Whether this kernel has loop nests to tell apart. */
  several: boolean;
  onOpen: (row: IKernelRow) => void;
}): JSX.Element {
  const { trans } = usePanel();
  const { row, edge, relation } = neighbour;
  const group = (index: number | null): string => (index === null ? '' : trans.__('group %1', index + 1));
  return (
    <li>
      <div className="stc-Neighbour-head">
        {relation === 'within' ? (
          <span>
            {trans.__('Two of its own groups: %1 and %2', group(neighbour.own), group(neighbour.other))}
          </span>
        ) : (
          <>
            <span className="stc-Neighbour-side">
              {relation === 'before' ? trans.__('before it') : trans.__('after it')}
            </span>
            {row ? (
              <button
                type="button"
                className="stc-Neighbour-link"
                title={row.kernel.name}
                onClick={() => onOpen(row)}
              >
                <KernelBlock row={row} />
                <span>{shortName(row.kernel.name)}</span>
              </button>
            ) : (
              <code>{neighbour.id}</code>
            )}
            {neighbour.other !== null && (neighbour.row?.kernel.groups.length ?? 2) > 1 && (
              <span className="stc-mod-note">{group(neighbour.other)}</span>
            )}
            {several && neighbour.owns.length > 0 && (
              <span className="stc-mod-note">
                {trans._n(
                  'and group %2 of this one',
                  'and groups %2 of this one',
                  neighbour.owns.length,
                  neighbour.owns.map(own => own + 1).join(', ')
                )}
              </span>
            )}
          </>
        )}
      </div>
      <p>
        <Words text={edge.reason} />
        {edge.buffers.length > 0 && (
          <span className="stc-mod-note">
            {' '}
            {trans.__('Through memory between them:')} <code>{edge.buffers.join(', ')}</code>
          </span>
        )}
      </p>
      {edge.detail && (
        <details className="stc-Details">
          <summary>{trans.__("The scheduler's words")}</summary>
          <code>{edge.detail}</code>
        </details>
      )}
    </li>
  );
}
