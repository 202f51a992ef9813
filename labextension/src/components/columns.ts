/** A table's columns, and which of them there is room for. */
import React from 'react';

export interface IColumn<Row> {
  key: string;
  title: string;
  /** Said on hover over the title. */
  hint?: string;
  /** Least width, in em. */
  width: number;
  /** Its share of the room that is left over; without one it stays as it is. */
  grow?: number;
  /** Leaves the table where there is no room for all; the highest goes first. */
  optional?: number;
  numeric?: boolean;
  render: (row: Row) => React.ReactNode;
  /** What to sort by; null comes last either way. Left out: not sortable. */
  value?: (row: Row) => number | string | null;
}

/** As in the style sheet, in px: between columns, at both ends together, and the track that unfolds rows. */
const GAP = 8;
const ENDS = 12;
export const FOLD = 18;

/** The columns that fit into a table of this width; those that are not optional stay in any case. */
export function fitting<Row>(
  columns: readonly IColumn<Row>[],
  pixels: number,
  em: number,
  foldable: boolean
): readonly IColumn<Row>[] {
  const kept = [...columns];
  const needed = (): number =>
    kept.reduce((sum, column) => sum + column.width * em + GAP, ENDS - GAP) + (foldable ? FOLD + GAP : 0);
  while (needed() > pixels) {
    const least = kept.reduce<IColumn<Row> | null>(
      (worst, column) => ((column.optional ?? 0) > (worst?.optional ?? 0) ? column : worst),
      null
    );
    if (least === null) {
      break;
    }
    kept.splice(kept.indexOf(least), 1);
  }
  return kept;
}

/** The columns that there is room for, now. */
export function useFitting<Row>(
  frame: React.RefObject<HTMLElement>,
  columns: readonly IColumn<Row>[],
  foldable: boolean
): readonly IColumn<Row>[] {
  const [room, setRoom] = React.useState<{ pixels: number; em: number } | null>(null);
  React.useLayoutEffect(() => {
    const element = frame.current;
    if (!element) {
      return;
    }
    const measure = (): void => {
      // A hidden table has no width, and keeps the columns it had.
      if (element.clientWidth > 0) {
        const pixels = element.clientWidth;
        const em = parseFloat(window.getComputedStyle(element).fontSize) || 13;
        setRoom(old => (old?.pixels === pixels && old.em === em ? old : { pixels, em }));
      }
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return React.useMemo(
    () => (room === null ? columns : fitting(columns, room.pixels, room.em, foldable)),
    [columns, room, foldable]
  );
}
