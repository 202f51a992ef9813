/** What became of the code: the user's lines, the graphs, their kernels, and each kernel in full. */
import React from 'react';

import { chipText } from '../../components/chip';
import { Empty } from '../../components/empty';
import { SplitPane } from '../../components/splitpane';
import { useTableState } from '../../components/table';
import { bytes, count, percent } from '../../format';
import { ILine, IViewProps } from '../../tokens';
import { Gaps } from '../gaps';
import { whyNothing } from '../nothing';
import { KernelDetail } from './detail';
import { GraphTable } from './graphs';
import { IKernelRow, isOfLine, kernelsOf, linesOf, matches, wordsOf } from './kernels';
import { KernelTable } from './kerneltable';
import { Lens } from './lens';
import { lensOf } from './lensdata';

/** What the pointer or the focus is on: it lights up what belongs to it on the other side. */
type Pointed = { kernel: string } | { line: ILine } | null;

const NONE: ReadonlySet<string> = new Set();

export function FusionView(props: IViewProps): JSX.Element {
  const { report, trans, width, selection, onSelect, model } = props;
  const { graphs } = report.compile;
  const kernels = React.useMemo(() => kernelsOf(report), [report]);
  const graph = selection.graph === null ? null : (kernels.graphs.get(selection.graph) ?? null);
  const opened = selection.kernel === null ? null : (kernels.byId.get(selection.kernel) ?? null);

  const [pointed, setPointed] = React.useState<Pointed>(null);
  const [query, setQuery] = React.useState('');
  const [kernelState, setKernelState] = useTableState();
  const [graphState, setGraphState] = useTableState();
  const [returned, setReturned] = React.useState(false);
  const [lensOpen, setLensOpen] = React.useState(true);
  const filter = React.useRef<HTMLInputElement>(null);
  const late = React.useDeferredValue(query);

  const ofGraph = React.useMemo(
    () => (graph === null ? kernels.rows : kernels.rows.filter(row => row.graph === graph)),
    [kernels, graph]
  );
  const files = React.useMemo(
    () => lensOf(report, ofGraph, graph === null ? graphs : [graph]),
    [report, ofGraph, graph, graphs]
  );
  const shown = React.useMemo(() => {
    const words = wordsOf(late);
    const { line } = selection;
    return ofGraph.filter(row => (line === null || isOfLine(row, line)) && matches(row, words));
  }, [ofGraph, selection.line, late]); // eslint-disable-line react-hooks/exhaustive-deps

  // Kernels that light up in the code, and rows that light up in the table.
  const inCode = React.useMemo(() => {
    const id = pointed !== null && 'kernel' in pointed ? pointed.kernel : (opened?.kernel.id ?? null);
    return id === null ? NONE : new Set([id]);
  }, [pointed, opened]);
  const inTable = React.useMemo(() => {
    if (pointed === null || 'kernel' in pointed) {
      return NONE;
    }
    return new Set(shown.filter(row => isOfLine(row, pointed.line)).map(row => row.kernel.id));
  }, [pointed, shown]);

  const openKernel = React.useCallback(
    (row: IKernelRow) => {
      setPointed(null);
      setReturned(false);
      setKernelState(old => ({ ...old, active: row.kernel.id }));
      onSelect({ kernel: row.kernel.id });
    },
    [onSelect, setKernelState]
  );
  const back = (): void => {
    setReturned(true);
    onSelect({ kernel: null });
  };
  const pointAtRow = React.useCallback(
    (row: IKernelRow | null) => setPointed(row === null ? null : { kernel: row.kernel.id }),
    []
  );

  if (graphs.length === 0) {
    const { title, reason } = whyNothing(report, trans);
    return <Empty title={title} reason={reason} />;
  }

  const pressed = (event: React.KeyboardEvent): void => {
    const typing =
      event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === '/' && !typing && filter.current) {
      event.preventDefault();
      filter.current.focus();
      filter.current.select();
    } else if (event.key === 'Escape' && opened !== null && !event.defaultPrevented) {
      event.stopPropagation();
      back();
    }
  };

  const lens =
    files.length > 0 ? (
      <Lens
        files={files}
        width={width}
        lit={inCode}
        selected={selection.line}
        onPoint={line => setPointed(line === null ? null : { line })}
        onSelectLine={line => onSelect(line === null ? { line } : { line, kernel: null })}
        onOpenKernel={openKernel}
        onShowBreak={id => {
          onSelect({ event: id });
          model.show('breaks');
        }}
      />
    ) : (
      <p className="stc-Note">{trans.__('No line of yours is known for these kernels.')}</p>
    );

  const list = (
    <>
      <section className="stc-Section">
        <header className="stc-Section-head">
          <h3>{trans.__('Graphs')}</h3>
          <span className="stc-Count">{count(graphs.length)}</span>
          {graph !== null && (
            <button type="button" className="stc-Link" onClick={() => onSelect({ graph: null })}>
              {trans.__('Show all graphs')}
            </button>
          )}
        </header>
        <div className="stc-Graphs">
          <GraphTable
            graphs={graphs}
            width={width}
            selected={graph?.id ?? null}
            state={graphState}
            onState={setGraphState}
            onSelect={id => onSelect({ graph: id })}
          />
        </div>
        <p className="stc-Note">{savedWords(props)}</p>
      </section>
      <section className="stc-Section">
        <header className="stc-Section-head">
          <h3>{trans.__('Kernels')}</h3>
          <span className="stc-Count" role="status">
            {shown.length === ofGraph.length
              ? count(shown.length)
              : trans.__('%1 of %2', count(shown.length), count(ofGraph.length))}
          </span>
          {selection.line !== null && (
            <button
              type="button"
              className="stc-FilterChip"
              aria-label={trans.__('Show the kernels of all lines')}
              onClick={() => onSelect({ line: null })}
            >
              {lineWords(selection.line, kernels.rows)} <span aria-hidden="true">✕</span>
            </button>
          )}
          <input
            ref={filter}
            type="search"
            className="stc-Filter"
            placeholder={trans.__('Filter ( / )')}
            aria-label={trans.__('Filter the kernels by name, operation or line')}
            value={query}
            onChange={event => setQuery(event.target.value)}
            onKeyDown={event => {
              if (event.key === 'Escape') {
                event.stopPropagation();
                if (query) {
                  setQuery('');
                } else {
                  event.currentTarget.blur();
                }
              }
            }}
          />
        </header>
        {shown.length === 0 ? (
          <Empty
            title={trans.__('No kernel matches')}
            reason={ofGraph.length === 0 ? trans.__('No kernel was recorded for this graph.') : undefined}
          />
        ) : (
          <KernelTable
            rows={shown}
            width={width}
            selected={selection.kernel}
            lit={inTable}
            state={kernelState}
            onState={setKernelState}
            onOpen={openKernel}
            onPoint={pointAtRow}
            focusActive={returned}
          />
        )}
      </section>
      <Gaps gaps={report.compile.gaps} />
    </>
  );
  const side =
    opened === null ? (
      list
    ) : (
      <KernelDetail
        row={opened}
        kernels={kernels}
        model={model}
        runId={report.run.id}
        width={width}
        onOpen={openKernel}
        onBack={back}
      />
    );

  return (
    <div className={`stc-Fusion stc-mod-${width}`} onKeyDown={pressed}>
      {width === 'wide' ? (
        <SplitPane
          name="fusion"
          stacked={false}
          first={lens}
          second={<div className="stc-Fusion-side">{side}</div>}
        />
      ) : (
        <>
          <section className="stc-Section">
            <header className="stc-Section-head">
              <h3>
                <button
                  type="button"
                  className="stc-Lens-fold"
                  aria-expanded={lensOpen}
                  onClick={() => setLensOpen(!lensOpen)}
                >
                  <span aria-hidden="true" className="stc-Fold-mark" />
                  {trans.__('Your code')}
                </button>
              </h3>
            </header>
            {lensOpen && <div className="stc-Fusion-lens">{lens}</div>}
          </section>
          {side}
        </>
      )}
    </div>
  );
}

function lineWords(line: ILine, rows: readonly IKernelRow[]): string {
  for (const row of rows) {
    const location = linesOf(row.kernel).find(one => one.file === line.file && one.line === line.line);
    if (location) {
      return chipText(location);
    }
  }
  return `${line.file.split('/').pop()} : ${line.line}`;
}

/** What all graphs together move, of those where both figures are known. */
function savedWords({ report, trans }: IViewProps): string {
  const known = report.compile.graphs.filter(({ bytes: moved }) => moved?.eager && moved.fused !== null);
  if (known.length === 0) {
    return trans.__('Bytes against eager are not known for any graph: hover over n/a to see why.');
  }
  const eager = known.reduce((sum, graph) => sum + (graph.bytes?.eager ?? 0), 0);
  const fused = known.reduce((sum, graph) => sum + (graph.bytes?.fused ?? 0), 0);
  const change =
    fused <= eager
      ? trans.__('%1 less', percent(1 - fused / eager))
      : trans.__('%1 more', percent(fused / eager - 1));
  const all = known.length === report.compile.graphs.length;
  return all
    ? trans.__(
        'Once through all graphs moves %1, eager %2: %3. Modelled, not measured.',
        bytes(fused),
        bytes(eager),
        change
      )
    : trans.__(
        'Once through the %4 graphs with known bytes moves %1, eager %2: %3. Modelled, not measured.',
        bytes(fused),
        bytes(eager),
        change,
        known.length
      );
}
