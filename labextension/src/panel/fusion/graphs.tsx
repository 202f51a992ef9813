/** The graphs of a run, one a row: what went in, what came out, from which cache, in what time, and what it saves. */
import React from 'react';
import { TranslationBundle } from '@jupyterlab/translation';

import { LocationChip } from '../../components/chip';
import { usePanel } from '../../components/context';
import { Figure } from '../../components/number';
import { phaseLetter } from '../../components/palette';
import { IColumn } from '../../components/columns';
import { SetTableState, ITableState, Table } from '../../components/table';
import { bytes, count, duration, percent } from '../../format';
import { Graph } from '../../records';
import { phaseWords, Share } from './blocks';

export interface IGraphTableProps {
  graphs: readonly Graph[];
  width: 'narrow' | 'wide';
  selected: string | null;
  state: ITableState;
  onState: SetTableState;
  onSelect: (graph: string | null) => void;
}

const idOf = (graph: Graph): string => graph.id;

/** 1 minus fused over eager; null where either is not known. */
export function savedShare({ bytes: moved }: Graph): number | null {
  return moved?.eager && moved.fused !== null ? 1 - moved.fused / moved.eager : null;
}

/** Why a figure of the graph's bytes is missing. */
function whyUnknown(graph: Graph, trans: TranslationBundle): string[] {
  if (graph.bytes === null) {
    return [trans.__('Its bytes were not recorded.')];
  }
  return graph.bytes.notes.length > 0 ? graph.bytes.notes : [trans.__('No reason was recorded.')];
}

export function cacheWords(graph: Graph, trans: TranslationBundle): string {
  const outcome: string | undefined = graph.cache?.outcome;
  switch (outcome) {
    case undefined:
    case 'unknown':
      return trans.__('not known');
    case 'hit':
      return trans.__('hit');
    case 'miss':
      return trans.__('miss');
    case 'bypass':
      return trans.__('bypassed');
    case 'off':
      return trans.__('off');
    default:
      return String(outcome);
  }
}

function Cache({ graph }: { graph: Graph }): JSX.Element {
  const { trans } = usePanel();
  const { cache } = graph;
  const details = cache
    ? [
        cache.reason ?? trans.__('No reason was recorded.'),
        ...(cache.cache ? [trans.__('Cache: %1', cache.cache)] : []),
        ...(cache.key ? [trans.__('Key: %1', cache.key)] : [])
      ]
    : [trans.__('What the caches did was not recorded.')];
  return <Figure text={cacheWords(graph, trans)} details={details} />;
}

function Saved({ graph }: { graph: Graph }): JSX.Element {
  const { trans } = usePanel();
  const saved = savedShare(graph);
  if (saved === null) {
    return <Figure text={trans.__('n/a')} name="compile.bytes.saved" details={whyUnknown(graph, trans)} />;
  }
  if (saved < 0) {
    return (
      <Figure
        text={`−${percent(-saved)}`}
        name="compile.bytes.saved"
        details={[trans.__('It moves %1 more than eager.', percent(-saved))]}
      />
    );
  }
  return <Share share={saved} name="compile.bytes.saved" />;
}

function Moved({ graph, part }: { graph: Graph; part: 'eager' | 'decomposed' | 'fused' }): JSX.Element {
  const { trans } = usePanel();
  const value = graph.bytes?.[part] ?? null;
  return (
    <Figure
      text={value === null ? trans.__('n/a') : bytes(value)}
      name={`compile.bytes.${part}`}
      details={value === null ? whyUnknown(graph, trans) : []}
    />
  );
}

function Title({ graph }: { graph: Graph }): JSX.Element {
  const { trans } = usePanel();
  const phase = phaseWords(graph.phase, trans);
  const name = graph.name ?? trans.__('unnamed');
  return (
    <span className="stc-GraphTitle" title={trans.__('%1 graph of %2, %3', phase, name, graph.id)}>
      <span className="stc-GraphTitle-letter" aria-hidden="true">
        {phaseLetter(graph.phase)}
      </span>
      <span className="stc-GraphTitle-phase">{phase}</span>
      <span className="stc-GraphTitle-name">{name}</span>
      {graph.dynamic && <DynamicMark trans={trans} />}
    </span>
  );
}

function DynamicMark({ trans }: { trans: TranslationBundle }): JSX.Element {
  return (
    <span className="stc-Badge stc-mod-dynamic" title={trans.__('Compiled for sizes that vary.')}>
      {trans.__('dynamic')}
    </span>
  );
}

function Made({ graph }: { graph: Graph }): JSX.Element {
  const { trans } = usePanel();
  return (
    <Figure
      text={`${count(graph.ops.length)} → ${count(graph.kernels.length)}`}
      name="compile.kernels.count"
      details={[
        trans.__('%1 operations became %2 kernels.', count(graph.ops.length), count(graph.kernels.length))
      ]}
    />
  );
}

export function GraphTable(props: IGraphTableProps): JSX.Element {
  const { trans } = usePanel();
  const { width, selected } = props;
  const wide = width === 'wide';
  const columns = React.useMemo((): IColumn<Graph>[] => {
    const narrow: IColumn<Graph>[] = [
      {
        key: 'graph',
        title: trans.__('Graph'),
        width: wide ? 11 : 4.8,
        grow: 1,
        render: graph => <Title graph={graph} />,
        value: graph => `${graph.phase} ${graph.name ?? ''}`
      },
      {
        key: 'made',
        title: wide ? trans.__('Ops → kernels') : trans.__('Kernels'),
        hint: trans.__('Operations of the traced graph, and the kernels they became'),
        width: wide ? 9.2 : 5,
        numeric: true,
        render: graph => <Made graph={graph} />,
        value: graph => graph.kernels.length
      },
      {
        key: 'saved',
        title: trans.__('Saved'),
        hint: trans.__('Bytes that are not moved any more, against eager'),
        width: wide ? 7.5 : 4.2,
        numeric: true,
        render: graph => <Saved graph={graph} />,
        value: savedShare
      }
    ];
    if (!wide) {
      return narrow;
    }
    return [
      ...narrow,
      {
        key: 'fused',
        optional: 2,
        title: trans.__('Fused'),
        hint: trans.__('Bytes that the kernels move'),
        width: 5.5,
        numeric: true,
        render: graph => <Moved graph={graph} part="fused" />,
        value: graph => graph.bytes?.fused ?? null
      },
      {
        key: 'eager',
        optional: 3,
        title: trans.__('Eager'),
        hint: trans.__('Bytes that eager PyTorch moves'),
        width: 5.5,
        numeric: true,
        render: graph => <Moved graph={graph} part="eager" />,
        value: graph => graph.bytes?.eager ?? null
      },
      {
        key: 'cache',
        optional: 1,
        title: trans.__('Cache'),
        width: 5.5,
        render: graph => <Cache graph={graph} />,
        value: graph => graph.cache?.outcome ?? null
      },
      {
        key: 'compile',
        optional: 4,
        title: trans.__('Compiled in'),
        width: 7.2,
        numeric: true,
        render: graph => <Figure text={duration(graph.compile_s)} name="compile.graphs.compile_s" />,
        value: graph => graph.compile_s
      }
    ];
  }, [trans, wide]);
  const nameOf = React.useCallback(
    (graph: Graph) => trans.__('%1 graph of %2', phaseWords(graph.phase, trans), graph.name ?? graph.id),
    [trans]
  );
  const details = React.useCallback((graph: Graph) => <GraphFacts graph={graph} />, []);
  return (
    <Table<Graph>
      label={trans.__('Graphs')}
      rows={props.graphs}
      idOf={idOf}
      nameOf={nameOf}
      columns={columns}
      state={props.state}
      onState={props.onState}
      selected={selected}
      onOpen={graph => props.onSelect(graph.id === selected ? null : graph.id)}
      click="open"
      details={details}
    />
  );
}

/** What the columns have no room for. */
function GraphFacts({ graph }: { graph: Graph }): JSX.Element {
  const { trans } = usePanel();
  return (
    <dl className="stc-Facts">
      <dt>{trans.__('Function')}</dt>
      <dd>
        <code>{graph.name ?? trans.__('not known')}</code>{' '}
        {graph.location && <LocationChip location={graph.location} />}
      </dd>
      <dt>{trans.__('Bytes, fused')}</dt>
      <dd>
        <Moved graph={graph} part="fused" />
      </dd>
      <dt>{trans.__('Bytes, eager')}</dt>
      <dd>
        <Moved graph={graph} part="eager" />
      </dd>
      <dt>{trans.__('Bytes, decomposed')}</dt>
      <dd>
        <Moved graph={graph} part="decomposed" />
      </dd>
      {graph.bytes?.notes.map(note => (
        <dd key={note} className="stc-mod-note">
          {note}
        </dd>
      ))}
      <dt>{trans.__('Cache')}</dt>
      <dd>
        {cacheWords(graph, trans)}
        {graph.cache?.reason && <span className="stc-mod-note">: {graph.cache.reason}</span>}
      </dd>
      <dt>{trans.__('Sizes')}</dt>
      <dd>
        {graph.dynamic === null
          ? trans.__('not known')
          : graph.dynamic
            ? trans.__('dynamic: it serves sizes that vary')
            : trans.__('fixed')}
      </dd>
      <dt>{trans.__('Compiled')}</dt>
      <dd>
        <Figure text={duration(graph.compile_s)} name="compile.graphs.compile_s" />
        {graph.step !== null && ` ${trans.__('in step %1', count(graph.step + 1))}`}
      </dd>
      <dt>{trans.__('Name in torch')}</dt>
      <dd>
        <code>{graph.compile_id ?? graph.id}</code>
      </dd>
    </dl>
  );
}
