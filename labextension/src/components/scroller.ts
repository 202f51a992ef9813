/** Which rows of a long list are in sight: the list shares its scroll bar with whatever box it lies in. */
import React from 'react';

/** Rows drawn beyond the edges, so that scrolling by a little shows no gap. */
const BEYOND = 12;
/** Rows drawn before anything could be measured. */
const FIRST = 40;

export interface IRowHeights {
  /** px of a row that is not unfolded. */
  row: number;
  /** [index, px more] of unfolded rows, in order of index. */
  extra: readonly (readonly [number, number])[];
}

/** Distance of a row from the top of the list. */
export function offsetOf(index: number, { row, extra }: IRowHeights): number {
  let offset = index * row;
  for (const [at, more] of extra) {
    if (at >= index) {
      break;
    }
    offset += more;
  }
  return offset;
}

/** The row at a distance from the top of the list. */
export function indexAt(y: number, { row, extra }: IRowHeights): number {
  let above = 0;
  for (const [at, more] of extra) {
    if (y < at * row + above + row) {
      break;
    }
    if (y < at * row + above + row + more) {
      return at;
    }
    above += more;
  }
  return Math.floor((y - above) / row);
}

export function scrollParent(element: HTMLElement): HTMLElement {
  for (let up = element.parentElement; up; up = up.parentElement) {
    const overflow = getComputedStyle(up).overflowY;
    if (overflow === 'auto' || overflow === 'scroll') {
      return up;
    }
  }
  return document.documentElement;
}

export interface IVisibleRows {
  from: number;
  to: number;
  /** Scroll so that a row is in sight. */
  reveal: (index: number) => void;
}

/** [from, to) of `count` rows to draw. All of them where `enabled` is false. */
export function useVisibleRows(
  list: React.RefObject<HTMLElement>,
  count: number,
  heights: IRowHeights,
  enabled: boolean,
  headerHeight: number
): IVisibleRows {
  const [range, setRange] = React.useState<readonly [number, number]>([0, FIRST]);
  const latest = React.useRef({ heights, count });
  latest.current = { heights, count };

  const measure = React.useCallback(() => {
    if (!list.current) {
      return;
    }
    const box = list.current.getBoundingClientRect();
    const outer = scrollParent(list.current).getBoundingClientRect();
    const top = Math.max(outer.top, 0);
    const bottom = Math.min(outer.bottom, window.innerHeight);
    if (bottom <= top) {
      return; // not shown at all
    }
    const { heights: now, count: rows } = latest.current;
    const from = Math.max(0, indexAt(Math.max(0, top - box.top), now) - BEYOND);
    const to = Math.min(rows, indexAt(Math.max(0, bottom - box.top), now) + BEYOND + 1);
    setRange(old => (old[0] === from && old[1] === to ? old : [from, Math.max(from, to)]));
  }, [list]);

  React.useLayoutEffect(() => {
    if (enabled) {
      measure();
    }
  }, [enabled, measure, count, heights]);

  React.useEffect(() => {
    if (!enabled || !list.current) {
      return;
    }
    const outer = scrollParent(list.current);
    const target: EventTarget = outer === document.documentElement ? window : outer;
    const resized = new ResizeObserver(measure);
    resized.observe(outer);
    target.addEventListener('scroll', measure, { passive: true });
    window.addEventListener('resize', measure);
    return () => {
      resized.disconnect();
      target.removeEventListener('scroll', measure);
      window.removeEventListener('resize', measure);
    };
  }, [enabled, list, measure]);

  const reveal = React.useCallback(
    (index: number) => {
      if (!list.current) {
        return;
      }
      const outer = scrollParent(list.current);
      const outerTop = outer === document.documentElement ? 0 : outer.getBoundingClientRect().top;
      const top =
        list.current.getBoundingClientRect().top + offsetOf(index, latest.current.heights) - outerTop;
      const row = latest.current.heights.row;
      if (top < headerHeight) {
        outer.scrollTop += top - headerHeight;
      } else if (top + row > outer.clientHeight) {
        outer.scrollTop += top + row - outer.clientHeight;
      }
      measure();
    },
    [list, measure, headerHeight]
  );

  return enabled
    ? { from: Math.min(range[0], count), to: Math.min(range[1], count), reveal }
    : { from: 0, to: count, reveal };
}
