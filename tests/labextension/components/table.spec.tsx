/** A table that sorts, unfolds, is walked with the keyboard and draws only what is in sight. */
import { act, fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { fitting, IColumn } from '../../../labextension/src/components/columns';
import { indexAt, offsetOf } from '../../../labextension/src/components/scroller';
import {
  ITableProps,
  ITableState,
  sortRows,
  Table,
  useTableState
} from '../../../labextension/src/components/table';
import { setWidth } from '../layout';
import { HTML } from '../reports';
import { expectAccessible, expectNoMarkup, show } from '../view';

interface IRow {
  id: string;
  name: string;
  size: number | null;
}

const row = (id: string, name: string, size: number | null): IRow => ({ id, name, size });
const FEW = [row('a', 'kernel_10', 5), row('b', 'kernel_2', null), row('c', 'kernel_1', 50)];
const many = (count: number): IRow[] =>
  Array.from({ length: count }, (_, at) => row(`r${at}`, `kernel_${at}`, at));

const NAME: IColumn<IRow> = {
  key: 'name',
  title: 'Name',
  width: 8,
  render: ({ name }) => name,
  value: ({ name }) => name
};
const SIZE: IColumn<IRow> = {
  key: 'size',
  title: 'Size',
  width: 4,
  numeric: true,
  render: ({ size }) => size ?? '–',
  value: ({ size }) => size
};
const ID: IColumn<IRow> = { key: 'id', title: 'Id', width: 5, optional: 1, render: ({ id }) => id };
const COLUMNS = [NAME, SIZE, ID];

type Props = Partial<ITableProps<IRow>> & { start?: Partial<ITableState> };

function Shown({ start, ...props }: Props): JSX.Element {
  const [state, onState] = useTableState(start);
  return (
    <Table<IRow>
      label="Kernels"
      rows={FEW}
      idOf={({ id }) => id}
      nameOf={({ name }) => name}
      columns={COLUMNS}
      state={state}
      onState={onState}
      {...props}
    />
  );
}

const details = ({ name }: IRow): JSX.Element => <p>{`More of ${name}`}</p>;
const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('.stc-Table-row')];
const order = (): (string | undefined)[] => rows().map(one => one.dataset['id']);
const focused = (): string | undefined => (document.activeElement as HTMLElement | null)?.dataset['id'];

describe('sorting', () => {
  test('given no order, then rows stay as they came', () => {
    expect(sortRows(FEW, COLUMNS, null)).toBe(FEW);
  });

  test.each([
    ['name', false, 'cba'],
    ['name', true, 'abc'],
    ['size', false, 'acb'],
    ['size', true, 'cab']
  ])('given %s, descending %s, then %s: numbers in names count, the unknown comes last', (key, down, ids) => {
    expect(
      sortRows(FEW, COLUMNS, { key, down })
        .map(({ id }) => id)
        .join('')
    ).toBe(ids);
  });

  test.each([false, true])(
    'given equal figures, descending %s, then they keep the order they came in',
    down => {
      const same = [row('x', 'x', 1), row('y', 'y', 1), row('z', 'z', 1)];
      expect(sortRows(same, COLUMNS, { key: 'size', down }).map(({ id }) => id)).toEqual(['x', 'y', 'z']);
    }
  );

  test.each(['id', 'unheard'])(
    'given the column %s, which cannot be sorted by, then nothing is sorted',
    key => {
      expect(sortRows(FEW, COLUMNS, { key, down: true })).toBe(FEW);
    }
  );

  test('given figures, when the title is pressed, then largest first, smallest first, as they came', async () => {
    show(<Shown />);
    const press = (): Promise<void> => userEvent.click(screen.getByRole('button', { name: 'Size' }));
    const said = (): string | null => screen.getByRole('columnheader', { name: /Size/ }).ariaSort;
    expect([order().join(''), said()]).toEqual(['abc', 'none']);
    await press();
    expect([order().join(''), said()]).toEqual(['cab', 'descending']);
    await press();
    expect([order().join(''), said()]).toEqual(['acb', 'ascending']);
    await press();
    expect([order().join(''), said()]).toEqual(['abc', 'none']);
  });

  test('given words, when the title is pressed, then from a to z first', async () => {
    show(<Shown />);
    await userEvent.click(screen.getByRole('button', { name: 'Name' }));
    expect(order().join('')).toBe('cba');
  });

  test('given a column without an order, then its title is no button', () => {
    show(<Shown />);
    expect(screen.queryByRole('button', { name: 'Id' })).toBeNull();
    expect(screen.getByRole('columnheader', { name: 'Id' }).ariaSort).toBeNull();
  });

  test('given an active row, when the order changes, then it stays the active one', async () => {
    show(<Shown start={{ active: 'a' }} />);
    await userEvent.click(screen.getByRole('button', { name: 'Size' }));
    expect(rows().find(one => one.tabIndex === 0)?.dataset['id']).toBe('a');
  });
});

describe('the keyboard', () => {
  test('given a table, then one row is in the Tab order', () => {
    show(<Shown />);
    expect(rows().map(one => one.tabIndex)).toEqual([0, -1, -1]);
  });

  test('given arrows, Home and End, then the focus goes from row to row and stops at the ends', async () => {
    const user = userEvent.setup();
    show(<Shown />);
    act(() => rows()[0].focus());
    for (const [key, goal] of [
      ['ArrowDown', 'b'],
      ['ArrowDown', 'c'],
      ['ArrowDown', 'c'],
      ['ArrowUp', 'b'],
      ['Home', 'a'],
      ['ArrowUp', 'a'],
      ['End', 'c'],
      ['PageUp', 'b'],
      ['PageDown', 'c']
    ]) {
      await user.keyboard(`{${key}}`);
      expect([key, focused()]).toEqual([key, goal]);
    }
    expect(rows().map(one => one.tabIndex)).toEqual([-1, -1, 0]);
  });

  test('given rows that unfold, then right opens, left closes, space turns, Enter opens what the row is', async () => {
    const user = userEvent.setup();
    const onOpen = vi.fn();
    show(<Shown details={details} onOpen={onOpen} />);
    act(() => rows()[1].focus());
    const open = (): boolean => screen.queryByText('More of kernel_2') !== null;
    for (const [key, wanted] of [
      ['{ArrowRight}', true],
      ['{ArrowRight}', true],
      ['{ArrowLeft}', false],
      [' ', true],
      [' ', false]
    ] as const) {
      await user.keyboard(key);
      expect([key, open()]).toEqual([key, wanted]);
      expect(rows()[1].ariaExpanded).toBe(String(wanted));
    }
    expect(onOpen).not.toHaveBeenCalled();
    await user.keyboard('{Enter}');
    expect(onOpen).toHaveBeenCalledExactlyOnceWith(FEW[1]);
  });

  test('given rows that open nothing, then Enter unfolds them', async () => {
    show(<Shown details={details} />);
    act(() => rows()[0].focus());
    await userEvent.keyboard('{Enter}');
    expect(screen.getByText('More of kernel_10')).toBeTruthy();
  });

  test('given a field inside an unfolded row, when arrows are pressed in it, then the table stays where it is', () => {
    show(<Shown details={() => <input aria-label="Field" />} start={{ unfolded: new Set(['a']) }} />);
    const field = screen.getByRole('textbox');
    field.focus();
    expect(fireEvent.keyDown(field, { key: 'ArrowDown' })).toBe(true);
    expect(document.activeElement).toBe(field);
  });

  test.each(['ctrlKey', 'metaKey', 'altKey'])(
    'given an arrow with %s, then it is left to JupyterLab',
    modifier => {
      show(<Shown />);
      act(() => rows()[0].focus());
      expect(fireEvent.keyDown(rows()[0], { key: 'ArrowDown', [modifier]: true })).toBe(true);
      expect(focused()).toBe('a');
    }
  );

  test('given a table that comes back, then it takes the focus to the row that was left', () => {
    show(<Shown start={{ active: 'c' }} focusActive />);
    expect(focused()).toBe('c');
  });

  test('given an active row that is not there any more, then Tab leads to the first', () => {
    show(<Shown start={{ active: 'gone' }} />);
    expect(rows().map(one => one.tabIndex)).toEqual([0, -1, -1]);
  });
});

describe('the pointer', () => {
  test('given rows that open, when one is clicked, then it opens and becomes the active one', async () => {
    const onOpen = vi.fn();
    show(<Shown onOpen={onOpen} details={details} click="open" />);
    await userEvent.click(screen.getByText('kernel_1'));
    expect(onOpen).toHaveBeenCalledExactlyOnceWith(FEW[2]);
    expect(screen.queryByText('More of kernel_1')).toBeNull();
    expect(rows()[2].tabIndex).toBe(0);
  });

  test('given rows that open, when the mark is clicked, then it unfolds and does not open', async () => {
    const onOpen = vi.fn();
    show(<Shown onOpen={onOpen} details={details} click="open" />);
    await userEvent.click(screen.getByRole('button', { name: 'Unfold kernel_1' }));
    expect(onOpen).not.toHaveBeenCalled();
    expect(screen.getByText('More of kernel_1')).toBeTruthy();
    expect(screen.getByRole('button', { name: 'Fold kernel_1' })).toBeTruthy();
  });

  test('given rows that unfold, when one is clicked, then it does', async () => {
    show(<Shown onOpen={vi.fn()} details={details} click="unfold" />);
    await userEvent.click(screen.getByText('kernel_1'));
    expect(screen.getByText('More of kernel_1')).toBeTruthy();
  });

  test('given a row that is pointed at, then others hear of it, and when it is left too', async () => {
    const onPoint = vi.fn();
    const user = userEvent.setup();
    show(<Shown onPoint={onPoint} />);
    await user.hover(screen.getByText('kernel_2'));
    expect(onPoint).toHaveBeenLastCalledWith(FEW[1]);
    await user.unhover(screen.getByText('kernel_2'));
    expect(onPoint).toHaveBeenLastCalledWith(null);
  });

  test('given rows that are lit and one that is selected, then they show it', () => {
    show(<Shown lit={new Set(['a', 'c'])} selected="b" />);
    expect(rows().map(one => one.classList.contains('stc-mod-lit'))).toEqual([true, false, true]);
    expect(rows().map(one => one.ariaSelected)).toEqual(['false', 'true', 'false']);
  });
});

describe('live updates', () => {
  test('given the focus elsewhere, when rows change, then it is not taken away', async () => {
    const { rerender } = show(<Shown />);
    act(() => rows()[0].focus());
    await userEvent.keyboard('{ArrowDown}');
    act(() => screen.getByRole('button', { name: 'Size' }).focus());
    rerender(<Shown rows={[...FEW]} />);
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Size' }));
  });

  test('given unfolded and active rows, when rows are added and change, then they stay so', () => {
    const { rerender } = show(<Shown details={details} start={{ active: 'b', unfolded: new Set(['b']) }} />);
    act(() => rows()[1].focus());
    rerender(
      <Shown
        details={details}
        rows={[row('new', 'kernel_0', 1), row('a', 'kernel_10', 6), ...FEW.slice(1)]}
      />
    );
    expect(order()).toEqual(['new', 'a', 'b', 'c']);
    expect(screen.getByText('More of kernel_2')).toBeTruthy();
    expect(focused()).toBe('b');
    expect(rows()[2].tabIndex).toBe(0);
  });
});

describe('the room there is', () => {
  const keys = (columns: readonly IColumn<IRow>[]): string => columns.map(({ key }) => key).join(' ');

  test('given optional columns, when it gets narrower, then the least wanted goes first', () => {
    const columns = [NAME, { ...SIZE, optional: 2 }, ID];
    expect(keys(fitting(columns, 1000, 10, false))).toBe('name size id');
    expect(keys(fitting(columns, 180, 10, false))).toBe('name id');
    expect(keys(fitting(columns, 100, 10, false))).toBe('name');
  });

  test('given no room at all, then columns that are not optional stay', () => {
    expect(keys(fitting(COLUMNS, 1, 10, true))).toBe('name size');
  });

  test('given exactly the room that is needed, then all stay; a pixel less, and one goes', () => {
    const needed = (8 + 4 + 5) * 10 + 2 * 8 + 12;
    expect(keys(fitting(COLUMNS, needed, 10, false))).toBe('name size id');
    expect(keys(fitting(COLUMNS, needed - 1, 10, false))).toBe('name size');
    expect(keys(fitting(COLUMNS, needed, 10, true))).toBe('name size');
  });

  test('given a table, when its room changes, then its columns follow; hidden, it keeps them', () => {
    show(<Shown />);
    const titles = (): number => screen.getAllByRole('columnheader').length;
    setWidth(800);
    expect(titles()).toBe(3);
    setWidth(190);
    expect(titles()).toBe(2);
    setWidth(0);
    expect(titles()).toBe(2);
    setWidth(800);
    expect(titles()).toBe(3);
  });
});

describe('heights', () => {
  const plain = { row: 28, extra: [] };
  const unfolded = { row: 28, extra: [[2, 100] as const, [5, 50] as const] };

  test.each([
    [0, 0],
    [2, 56],
    [3, 184],
    [5, 240],
    [6, 318]
  ])('given unfolded rows, then row %d begins at %d', (index, offset) => {
    expect(offsetOf(index, unfolded)).toBe(offset);
  });

  test.each([plain, unfolded])('given any row, then what lies where it begins is that row: %#', heights => {
    for (let index = 0; index < 20; index++) {
      expect(indexAt(offsetOf(index, heights), heights)).toBe(index);
    }
  });

  test('given a place inside what a row unfolded, then it is that row', () => {
    expect(indexAt(56 + 28 + 99, unfolded)).toBe(2);
    expect(indexAt(56 + 28 + 100, unfolded)).toBe(3);
  });
});

describe('ten thousand rows', () => {
  const HEIGHT = 280;
  const ROW = 28;
  let scroller: HTMLElement;

  // A scrolled box as a browser lays it out.
  beforeEach(() => {
    vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(HEIGHT);
    vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockImplementation(function (this: HTMLElement) {
      const scrolled = this.closest('[data-testid="scroller"]')?.scrollTop ?? 0;
      return this.classList.contains('stc-Table-body')
        ? new DOMRect(0, ROW - scrolled, 300, 10000 * ROW)
        : new DOMRect(0, 0, 300, HEIGHT);
    });
  });

  afterEach(() => void vi.restoreAllMocks());

  const boxed = (props: Props): JSX.Element => (
    <div style={{ overflowY: 'auto' }} data-testid="scroller">
      <Shown rows={many(10000)} {...props} />
    </div>
  );
  function open(props: Props = {}): (props: Props) => void {
    const { rerender } = show(boxed(props));
    scroller = screen.getByTestId('scroller');
    return next => rerender(boxed(next));
  }
  function scrollTo(top: number): void {
    scroller.scrollTop = top;
    fireEvent.scroll(scroller);
  }
  const spaces = (): number[] =>
    [...document.querySelectorAll<HTMLElement>('.stc-Table-body > div:not([role])')].map(one =>
      parseFloat(one.style.height)
    );

  test('given a long list, then only the rows in sight and a few beyond are drawn', () => {
    open();
    expect(rows().length).toBeLessThan(40);
    expect(order()[0]).toBe('r0');
    expect(screen.getByRole('grid').getAttribute('aria-rowcount')).toBe('10001');
  });

  test('when it is scrolled, then the rows there are drawn, and the whole keeps its height', () => {
    open();
    scrollTo(5000 * ROW);
    expect(order()).toContain('r5000');
    expect(order()).toContain('r5009');
    expect(order()).not.toContain('r0');
    expect(rows().length).toBeLessThan(40);
    const [above, below] = spaces();
    expect(above + rows().length * ROW + below).toBe(10000 * ROW);
    expect(rows()[0].getAttribute('aria-rowindex')).toBe(String(Number(rows()[0].dataset['index']) + 2));
  });

  test('when End and Home are pressed, then the focus is on a row that was not drawn before', async () => {
    open();
    act(() => rows()[0].focus());
    await userEvent.keyboard('{End}');
    expect(focused()).toBe('r9999');
    expect(scroller.scrollTop).toBeGreaterThan(9900 * ROW);
    await userEvent.keyboard('{Home}');
    expect(focused()).toBe('r0');
    expect(scroller.scrollTop).toBeLessThanOrEqual(ROW);
  });

  test('when it comes back with an active row far down, then that has the focus', () => {
    open({ start: { active: 'r7000' }, focusActive: true });
    expect(focused()).toBe('r7000');
  });

  test('when a filter leaves few, then these are drawn, wherever it was scrolled to', () => {
    const change = open();
    scrollTo(5000 * ROW);
    change({ rows: many(50) });
    expect(order()).toHaveLength(50);
  });
});

describe('a table for everybody', () => {
  test.each([
    ['of a grid', {}],
    ['that unfolds', { details, start: { unfolded: new Set(['a']) } }]
  ])('given one %s, then axe finds nothing in the way', async (_, props) => {
    const { container } = show(<Shown {...props} />);
    await expectAccessible(container);
  });

  test('given no rows, then there are titles and nothing breaks', async () => {
    const { container } = show(<Shown rows={[]} />);
    expect(rows()).toHaveLength(0);
    expect(within(container).getByRole('grid', { name: 'Kernels' })).toBeTruthy();
    fireEvent.keyDown(screen.getByRole('grid'), { key: 'End' });
  });

  test('given HTML in a name, then it is text', () => {
    const { container } = show(<Shown rows={[row('a', HTML, 1)]} details={details} />);
    expect(container.textContent).toContain(HTML);
    expectNoMarkup(container);
  });
});
