/** The kernels as a table: three columns and rows that unfold where it is narrow, all columns where it is wide. */
import React from 'react';

import { LocationChip } from '../../components/chip';
import { usePanel } from '../../components/context';
import { Figure } from '../../components/number';
import { IColumn } from '../../components/columns';
import { ITableState, SetTableState, Table } from '../../components/table';
import { bytes, count, UNKNOWN } from '../../format';
import { KernelBlock, KindBadge, phaseWords, Share } from './blocks';
import { groupCount, IKernelRow, linesOf, shortName } from './kernels';

export interface IKernelTableProps {
  rows: readonly IKernelRow[];
  width: 'narrow' | 'wide';
  selected: string | null;
  lit: ReadonlySet<string>;
  state: ITableState;
  onState: SetTableState;
  onOpen: (row: IKernelRow) => void;
  onPoint: (row: IKernelRow | null) => void;
  focusActive: boolean;
}

const idOf = (row: IKernelRow): string => row.kernel.id;

function Name({ row }: { row: IKernelRow }): JSX.Element {
  return (
    <span className="stc-KernelName" title={row.kernel.name}>
      <KernelBlock row={row} />
      <span className="stc-KernelName-text">{shortName(row.kernel.name)}</span>
    </span>
  );
}

export function KernelTable(props: IKernelTableProps): JSX.Element {
  const { trans } = usePanel();
  const wide = props.width === 'wide';
  const columns = React.useMemo((): IColumn<IKernelRow>[] => {
    const name: IColumn<IKernelRow> = {
      key: 'name',
      title: trans.__('Kernel'),
      width: wide ? 10 : 6,
      grow: 1,
      render: row => <Name row={row} />,
      value: row => shortName(row.kernel.name)
    };
    const kind: IColumn<IKernelRow> = {
      key: 'kind',
      title: trans.__('Kind'),
      width: 5.2,
      optional: 2,
      render: row => <KindBadge kind={row.kernel.kind} trans={trans} />,
      value: row => row.kernel.kind
    };
    const ops: IColumn<IKernelRow> = {
      key: 'ops',
      title: trans.__('Ops'),
      hint: trans.__('Operations that the kernel computes'),
      width: 3.4,
      numeric: true,
      render: row => <Figure text={count(row.kernel.ops.length)} name="compile.kernels.ops" />,
      value: row => row.kernel.ops.length
    };
    const share: IColumn<IKernelRow> = {
      key: 'share',
      title: wide ? trans.__('Of graph') : trans.__('Share'),
      hint: trans.__('Share of the bytes that all kernels of the same graph move'),
      width: wide ? 7 : 5.2,
      numeric: true,
      render: row => <Share share={row.share} name="compile.kernels.share" />,
      value: row => row.share
    };
    if (!wide) {
      return [name, ops, share];
    }
    return [
      name,
      kind,
      ops,
      share,
      {
        key: 'read',
        optional: 4,
        title: trans.__('In'),
        hint: trans.__('Bytes that the kernel reads'),
        width: 5,
        numeric: true,
        render: row => <Figure text={bytes(row.kernel.bytes_read)} name="compile.kernels.bytes_read" />,
        value: row => row.kernel.bytes_read
      },
      {
        key: 'written',
        optional: 3,
        title: trans.__('Out'),
        hint: trans.__('Bytes that the kernel writes'),
        width: 5,
        numeric: true,
        render: row => <Figure text={bytes(row.kernel.bytes_written)} name="compile.kernels.bytes_written" />,
        value: row => row.kernel.bytes_written
      },
      {
        key: 'groups',
        title: trans.__('Groups'),
        hint: trans.__('Loop nests of the kernel'),
        width: 5.6,
        optional: 5,
        numeric: true,
        render: row => <Groups row={row} />,
        value: row => groupCount(row.kernel)
      }
    ];
  }, [trans, wide]);
  const nameOf = React.useCallback((row: IKernelRow) => trans.__('kernel %1', row.label), [trans]);
  const details = React.useCallback((row: IKernelRow) => <Rest row={row} />, []);
  return (
    <Table<IKernelRow>
      label={trans.__('Kernels')}
      rows={props.rows}
      idOf={idOf}
      nameOf={nameOf}
      columns={columns}
      state={props.state}
      onState={props.onState}
      onOpen={props.onOpen}
      click="open"
      details={wide ? undefined : details}
      selected={props.selected}
      lit={props.lit}
      onPoint={props.onPoint}
      focusActive={props.focusActive}
    />
  );
}

function Groups({ row }: { row: IKernelRow }): JSX.Element {
  const groups = groupCount(row.kernel);
  return <Figure text={groups === null ? UNKNOWN : count(groups)} name="compile.kernels.groups" />;
}

const LINES_AT_MOST = 6;

/** What a narrow row has no column for. */
function Rest({ row }: { row: IKernelRow }): JSX.Element {
  const { trans } = usePanel();
  const { kernel, graph } = row;
  const lines = linesOf(kernel);
  return (
    <dl className="stc-Facts">
      <dt>{trans.__('Kind')}</dt>
      <dd>
        <KindBadge kind={kernel.kind} trans={trans} />
      </dd>
      <dt>{trans.__('In')}</dt>
      <dd>
        <Figure text={bytes(kernel.bytes_read)} name="compile.kernels.bytes_read" />
      </dd>
      <dt>{trans.__('Out')}</dt>
      <dd>
        <Figure text={bytes(kernel.bytes_written)} name="compile.kernels.bytes_written" />
      </dd>
      <dt>{trans.__('Groups')}</dt>
      <dd>
        <Groups row={row} />
      </dd>
      <dt>{trans.__('Graph')}</dt>
      <dd>
        {phaseWords(graph.phase, trans)} <code>{graph.name ?? graph.id}</code>
      </dd>
      {lines.length > 0 && (
        <>
          <dt>{trans.__('Lines')}</dt>
          <dd className="stc-Chips">
            {lines.slice(0, LINES_AT_MOST).map(location => (
              <LocationChip key={`${location.file}:${location.line}`} location={location} />
            ))}
            {lines.length > LINES_AT_MOST && trans.__('and %1 more', lines.length - LINES_AT_MOST)}
          </dd>
        </>
      )}
    </dl>
  );
}
