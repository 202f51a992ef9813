/** What became of the code: graphs, their kernels, and the user's own lines beside them. */
import React from 'react';

import { Table, useTableState } from '../../components/table';
import { count } from '../../format';
import { IViewProps } from '../../tokens';
import { IKernelRow, kernelsOf, shortName } from './kernels';

export function FusionView({ report, trans, selection, onSelect }: IViewProps): JSX.Element {
  const kernels = React.useMemo(() => kernelsOf(report), [report]);
  const [state, setState] = useTableState();
  return (
    <Table<IKernelRow>
      label={trans.__('Kernels')}
      rows={kernels.rows}
      idOf={row => row.kernel.id}
      nameOf={row => row.label}
      columns={[
        { key: 'label', title: trans.__('Kernel'), width: '4em', render: row => row.label },
        { key: 'name', title: trans.__('Name'), width: '1fr', render: row => shortName(row.kernel.name) },
        { key: 'ops', title: trans.__('Ops'), width: '4em', numeric: true, render: row => count(row.kernel.ops.length) }
      ]}
      state={state}
      onState={setState}
      selected={selection.kernel}
      onOpen={row => onSelect({ kernel: row.kernel.id })}
    />
  );
}
