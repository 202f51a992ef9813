/** The buffers of a kernel: how each lies in memory, and why it is there at all. */
import React from 'react';

import { usePanel } from '../../components/context';
import { IColumn } from '../../components/columns';
import { Table, useTableState } from '../../components/table';
import { UNKNOWN } from '../../format';
import { Kernel, Layout } from '../../records';

interface IBuffer {
  id: string;
  layout: Layout;
}

const idOf = (buffer: IBuffer): string => buffer.id;
const nameOf = (buffer: IBuffer): string => buffer.layout.buffer;
const size = (sizes: readonly string[]): string => `[${sizes.join(', ')}]`;

export function Layouts({ kernel, width }: { kernel: Kernel; width: 'narrow' | 'wide' }): JSX.Element {
  const { trans } = usePanel();
  const [state, setState] = useTableState();
  const wide = width === 'wide';
  const buffers = React.useMemo(
    () => kernel.layout.map((layout, index) => ({ id: `${index}`, layout })),
    [kernel.layout]
  );
  const columns = React.useMemo((): IColumn<IBuffer>[] => {
    const role = (layout: Layout): string =>
      layout.role === 'read' ? trans.__('reads') : layout.role === 'write' ? trans.__('writes') : layout.role;
    const column = (
      key: string,
      title: string,
      width: number,
      grow: number,
      text: (layout: Layout) => string
    ): IColumn<IBuffer> => ({
      key,
      title,
      width,
      grow,
      render: ({ layout }) => (
        <span className="stc-Layout-text" title={text(layout)}>
          {text(layout)}
        </span>
      ),
      value: ({ layout }) => text(layout)
    });
    const buffer: IColumn<IBuffer> = {
      ...column('buffer', trans.__('Buffer'), wide ? 6.5 : 5, wide ? 0.5 : 1, layout => layout.buffer),
      render: ({ layout }) => (
        <span className="stc-Layout-buffer">
          <span className={`stc-Layout-role stc-mod-${layout.role}`}>{role(layout)}</span>
          <code>{layout.buffer}</code>
        </span>
      )
    };
    const shape = column('shape', trans.__('Shape'), wide ? 6.5 : 4.6, 0.5, layout => size(layout.shape));
    const format = column(
      'format',
      trans.__('Format'),
      wide ? 7 : 5,
      wide ? 0 : 0.5,
      layout => layout.format ?? UNKNOWN
    );
    return wide
      ? [
          buffer,
          { ...column('dtype', trans.__('Type'), 5, 0, layout => layout.dtype), optional: 1 },
          shape,
          { ...column('stride', trans.__('Strides'), 8, 1, layout => size(layout.stride)), optional: 2 },
          format,
          column('reason', trans.__('In memory because'), 10.5, 2, layout => layout.reason ?? UNKNOWN)
        ]
      : [buffer, shape, format];
  }, [trans, wide]);
  const details = React.useCallback(
    ({ layout }: IBuffer) => (
      <dl className="stc-Facts">
        <dt>{trans.__('Type')}</dt>
        <dd>{layout.dtype}</dd>
        <dt>{trans.__('Shape')}</dt>
        <dd>{size(layout.shape)}</dd>
        <dt>{trans.__('Strides')}</dt>
        <dd>{size(layout.stride)}</dd>
        <dt>{trans.__('Format')}</dt>
        <dd>{layout.format ?? trans.__('not known')}</dd>
        <dt>{trans.__('In memory because')}</dt>
        <dd>{layout.reason ?? trans.__('not known')}</dd>
      </dl>
    ),
    [trans]
  );
  return (
    <section className="stc-Section">
      <h4>{trans.__('Buffers')}</h4>
      {buffers.length === 0 ? (
        <p className="stc-Note">{trans.__('The layout of its buffers was not recorded.')}</p>
      ) : (
        <Table<IBuffer>
          label={trans.__('Buffers')}
          rows={buffers}
          idOf={idOf}
          nameOf={nameOf}
          columns={columns}
          state={state}
          onState={setState}
          click="unfold"
          details={details}
        />
      )}
    </section>
  );
}
