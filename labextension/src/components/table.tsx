/**
 * A table that sorts, unfolds its rows, is walked with the arrow keys, and draws only the rows in sight.
 *
 * It holds no data of its own: sorting, the active row and the unfolded rows live with whoever shows it, and survive live updates.
 */
import React from 'react';

import { FOLD, IColumn, useFitting } from './columns';
import { usePanel } from './context';
import { IRowHeights, offsetOf, useVisibleRows } from './scroller';

export interface ITableState {
  sort: { key: string; down: boolean } | null;
  /** Id of the row that Tab leads to. */
  active: string | null;
  unfolded: ReadonlySet<string>;
}

const START: ITableState = { sort: null, active: null, unfolded: new Set() };

export type SetTableState = React.Dispatch<React.SetStateAction<ITableState>>;

export function useTableState(start: Partial<ITableState> = {}): [ITableState, SetTableState] {
  return React.useState<ITableState>({ ...START, ...start });
}

export interface ITableProps<Row> {
  /** The table's name for screen readers. */
  label: string;
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** What a screen reader says of a row's disclosure: the row's name. */
  nameOf: (row: Row) => string;
  columns: readonly IColumn<Row>[];
  state: ITableState;
  onState: SetTableState;
  /** Enter, and a click where `click` is "open". */
  onOpen?: (row: Row) => void;
  click?: 'open' | 'unfold';
  /** What an unfolded row shows. */
  details?: (row: Row) => React.ReactNode;
  selected?: string | null;
  /** Rows that light up, because something elsewhere belongs to them. */
  lit?: ReadonlySet<string>;
  /** The pointer or the focus is on this row, or has left it. */
  onPoint?: (row: Row | null) => void;
  /** Take the focus to the active row when the table appears. */
  focusActive?: boolean;
}

/** Below this all rows are drawn, so that the browser's own search finds them. */
const DRAW_ALL = 120;
const ROW_HEIGHT = 28;

export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly IColumn<Row>[],
  sort: ITableState['sort']
): readonly Row[] {
  const value = columns.find(column => column.key === sort?.key)?.value;
  if (!sort || !value) {
    return rows;
  }
  const sign = sort.down ? -1 : 1;
  return rows
    .map((row, index) => ({ row, index, value: value(row) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) {
        return Number(a.value === null) - Number(b.value === null) || a.index - b.index;
      }
      const order =
        typeof a.value === 'string' || typeof b.value === 'string'
          ? String(a.value).localeCompare(String(b.value), undefined, { numeric: true })
          : a.value - b.value;
      return sign * order || a.index - b.index;
    })
    .map(entry => entry.row);
}

export function Table<Row>(props: ITableProps<Row>): JSX.Element {
  const { label, state, onState, idOf, details, onOpen, lit, selected = null } = props;
  const { trans } = usePanel();
  const frame = React.useRef<HTMLDivElement>(null);
  const columns = useFitting(frame, props.columns, details !== undefined);
  const list = React.useRef<HTMLDivElement>(null);
  const header = React.useRef<HTMLDivElement>(null);
  const focusWanted = React.useRef(props.focusActive === true);

  const rows = React.useMemo(
    () => sortRows(props.rows, columns, state.sort),
    [props.rows, columns, state.sort]
  );
  const [rowHeight, setRowHeight] = React.useState(ROW_HEIGHT);
  const [unfoldedHeights, setUnfoldedHeights] = React.useState<ReadonlyMap<string, number>>(new Map());
  const heights = React.useMemo((): IRowHeights => {
    const extra: [number, number][] = [];
    if (state.unfolded.size > 0) {
      rows.forEach((row, index) => {
        const id = idOf(row);
        if (state.unfolded.has(id)) {
          extra.push([index, unfoldedHeights.get(id) ?? 0]);
        }
      });
    }
    return { row: rowHeight, extra };
  }, [rows, idOf, state.unfolded, unfoldedHeights, rowHeight]);

  const windowed = rows.length > DRAW_ALL;
  const { from, to, reveal } = useVisibleRows(
    list,
    rows.length,
    heights,
    windowed,
    header.current?.offsetHeight ?? ROW_HEIGHT
  );

  // A larger font makes taller rows.
  React.useLayoutEffect(() => {
    const first = list.current?.querySelector<HTMLElement>('.stc-Table-row');
    if (windowed && first && first.offsetHeight > 0 && Math.abs(first.offsetHeight - rowHeight) > 0.5) {
      setRowHeight(first.offsetHeight);
    }
  }, [windowed, rowHeight, from]);

  const foundActive = rows.findIndex(row => idOf(row) === state.active);
  const active = Math.max(0, foundActive);

  // The wanted row may only now have been drawn.
  React.useLayoutEffect(() => {
    if (!focusWanted.current || rows.length === 0) {
      return;
    }
    const element = list.current?.querySelector<HTMLElement>(`[data-index="${active}"]`);
    if (element) {
      focusWanted.current = false;
      element.focus({ preventScroll: true });
      element.scrollIntoView?.({ block: 'nearest' });
    } else {
      reveal(active);
    }
  });

  const goTo = (index: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, index));
    focusWanted.current = true;
    const id = idOf(rows[next]);
    onState(old => ({ ...old, active: id }));
    reveal(next);
  };

  const fold = React.useCallback(
    (id: string, open?: boolean) =>
      onState(old => {
        const unfolded = new Set(old.unfolded);
        if (open ?? !unfolded.has(id)) {
          unfolded.add(id);
        } else {
          unfolded.delete(id);
        }
        return { ...old, unfolded, active: id };
      }),
    [onState]
  );

  const measured = React.useCallback((id: string, height: number) => {
    setUnfoldedHeights(old => (old.get(id) === height ? old : new Map(old).set(id, height)));
  }, []);

  const pressed = (event: React.KeyboardEvent): void => {
    const row = rows[active];
    const at = event.target instanceof Element && event.target.getAttribute('role') === 'row';
    if (!at || !row || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const page = Math.max(1, Math.floor((list.current?.parentElement?.clientHeight ?? 300) / rowHeight) - 1);
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => goTo(active + 1),
      ArrowUp: () => goTo(active - 1),
      PageDown: () => goTo(active + Math.min(page, 20)),
      PageUp: () => goTo(active - Math.min(page, 20)),
      Home: () => goTo(0),
      End: () => goTo(rows.length - 1),
      ArrowRight: () => details && fold(idOf(row), true),
      ArrowLeft: () => details && fold(idOf(row), false),
      ' ': () => (details ? fold(idOf(row)) : onOpen?.(row)),
      Enter: () => (onOpen ? onOpen(row) : details && fold(idOf(row)))
    };
    const move = moves[event.key];
    if (move) {
      event.preventDefault();
      event.stopPropagation();
      move();
    }
  };

  const latest = React.useRef(props);
  latest.current = props;
  const clicked = React.useCallback(
    (row: Row) => {
      const now = latest.current;
      if (now.click === 'unfold' || !now.onOpen) {
        fold(now.idOf(row));
      } else {
        now.onState(old => ({ ...old, active: now.idOf(row) }));
        now.onOpen(row);
      }
    },
    [fold]
  );
  const pointed = React.useCallback((row: Row | null) => latest.current.onPoint?.(row), []);
  const focused = React.useCallback((id: string) => {
    latest.current.onState(old => (old.active === id ? old : { ...old, active: id }));
  }, []);

  const tracks = columns.map(({ width, grow }) => (grow ? `minmax(${width}em, ${grow}fr)` : `${width}em`));
  return (
    <div
      ref={frame}
      className="stc-Table"
      role={details ? 'treegrid' : 'grid'}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      style={{ '--stc-tracks': `${details ? `${FOLD}px ` : ''}${tracks.join(' ')}` } as React.CSSProperties}
      onKeyDown={pressed}
    >
      <div ref={header} role="row" aria-rowindex={1} className="stc-Table-header">
        {details && (
          <div role="columnheader" className="stc-Table-cell">
            <span className="stc-Hidden">{trans.__('Unfold')}</span>
          </div>
        )}
        {columns.map(column => (
          <Heading key={column.key} column={column} sort={state.sort} onState={onState} />
        ))}
      </div>
      <div ref={list} role="rowgroup" className="stc-Table-body">
        {from > 0 && <div style={{ height: offsetOf(from, heights) }} />}
        {rows.slice(from, to).map((row, offset) => {
          const id = idOf(row);
          return (
            <TableRow
              key={id}
              row={row}
              id={id}
              index={from + offset}
              name={props.nameOf(row)}
              columns={columns as readonly IColumn<unknown>[]}
              tabbable={from + offset === active}
              selected={id === selected}
              lit={lit?.has(id) ?? false}
              unfolded={details !== undefined && state.unfolded.has(id)}
              details={details as ((row: unknown) => React.ReactNode) | undefined}
              onClick={clicked as (row: unknown) => void}
              onFold={fold}
              onPoint={pointed as (row: unknown) => void}
              onFocus={focused}
              onMeasure={measured}
            />
          );
        })}
        {to < rows.length && (
          <div style={{ height: offsetOf(rows.length, heights) - offsetOf(to, heights) }} />
        )}
      </div>
    </div>
  );
}

interface IHeadingProps<Row> {
  column: IColumn<Row>;
  sort: ITableState['sort'];
  onState: SetTableState;
}

function Heading<Row>({ column, sort, onState }: IHeadingProps<Row>): JSX.Element {
  const current = sort?.key === column.key ? sort : null;
  const first = column.numeric === true; // the largest figure is what one looks for
  const next = (): void =>
    onState(old => ({
      ...old,
      sort:
        current === null
          ? { key: column.key, down: first }
          : current.down === first
            ? { key: column.key, down: !first }
            : null
    }));
  return (
    <div
      role="columnheader"
      className={`stc-Table-cell ${column.numeric ? 'stc-mod-numeric' : ''}`}
      aria-sort={current ? (current.down ? 'descending' : 'ascending') : column.value ? 'none' : undefined}
      title={column.hint ?? column.title}
    >
      {column.value ? (
        <button type="button" className="stc-Table-sort" onClick={next}>
          <span>{column.title}</span>
          <span aria-hidden="true" className="stc-Table-arrow">
            {current ? (current.down ? '▾' : '▴') : ''}
          </span>
        </button>
      ) : (
        <span>{column.title}</span>
      )}
    </div>
  );
}

interface ITableRowProps {
  row: unknown;
  id: string;
  index: number;
  name: string;
  columns: readonly IColumn<unknown>[];
  tabbable: boolean;
  selected: boolean;
  lit: boolean;
  unfolded: boolean;
  details?: (row: unknown) => React.ReactNode;
  onClick: (row: unknown) => void;
  onFold: (id: string, open?: boolean) => void;
  onPoint: (row: unknown) => void;
  onFocus: (id: string) => void;
  onMeasure: (id: string, height: number) => void;
}

/** Drawn again only where something of it has changed: hovering must not redraw a whole table. */
const TableRow = React.memo((props: ITableRowProps): JSX.Element => {
  const { row, id, index, name, columns, details, unfolded } = props;
  const { trans } = usePanel();
  const classes = ['stc-Table-row'];
  if (props.selected) {
    classes.push('stc-mod-selected');
  }
  if (props.lit) {
    classes.push('stc-mod-lit');
  }
  return (
    <>
      <div
        role="row"
        aria-rowindex={index + 2}
        aria-selected={props.selected}
        aria-expanded={details ? unfolded : undefined}
        aria-level={details ? 1 : undefined}
        data-index={index}
        data-id={id}
        tabIndex={props.tabbable ? 0 : -1}
        className={classes.join(' ')}
        onClick={() => props.onClick(row)}
        onMouseEnter={() => props.onPoint(row)}
        onMouseLeave={() => props.onPoint(null)}
        onFocus={() => {
          props.onFocus(id);
          props.onPoint(row);
        }}
        onBlur={() => props.onPoint(null)}
      >
        {details && (
          <div role="gridcell" className="stc-Table-cell stc-mod-fold">
            <button
              type="button"
              className="stc-Fold"
              tabIndex={-1}
              aria-expanded={unfolded}
              aria-label={unfolded ? trans.__('Fold %1', name) : trans.__('Unfold %1', name)}
              onClick={event => {
                event.stopPropagation();
                props.onFold(id);
              }}
            >
              <span aria-hidden="true" className="stc-Fold-mark" />
            </button>
          </div>
        )}
        {columns.map(column => (
          <div
            key={column.key}
            role="gridcell"
            className={`stc-Table-cell ${column.numeric ? 'stc-mod-numeric' : ''}`}
          >
            {column.render(row)}
          </div>
        ))}
      </div>
      {unfolded && details && (
        <Details id={id} onMeasure={props.onMeasure}>
          {details(row)}
        </Details>
      )}
    </>
  );
});
TableRow.displayName = 'TableRow';

interface IDetailsProps {
  id: string;
  onMeasure: (id: string, height: number) => void;
  children: React.ReactNode;
}

function Details({ id, onMeasure, children }: IDetailsProps): JSX.Element {
  const box = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    const element = box.current;
    if (!element) {
      return;
    }
    const measure = (): void => onMeasure(id, element.offsetHeight);
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  }, [id, onMeasure]);
  return (
    <div ref={box} role="row" aria-level={2} className="stc-Table-details">
      <div role="gridcell">{children}</div>
    </div>
  );
}
