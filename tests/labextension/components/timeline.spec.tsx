/** Events over the steps: marks that can be reached, told apart and picked, and stretches that can be drawn. */
import { act, fireEvent, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import { describe, expect, test, vi } from 'vitest';

import {
  clusters,
  ILane,
  IMoment,
  ITimelineProps,
  ticks,
  Timeline
} from '../../../labextension/src/components/timeline';
import { setWidth } from '../layout';
import { HTML } from '../reports';
import { expectAccessible, expectNoMarkup, show } from '../view';

const LANES: readonly ILane[] = [
  { key: 'break', title: 'Breaks', shape: 'diamond' },
  { key: 'limit', title: 'Limit', shape: 'octagon' }
];
const at = (step: number, id = `b${step}`, lane = 'break', name = `reason ${id}`): IMoment => ({
  id,
  lane,
  step,
  name
});

function line(moments: readonly IMoment[], props: Partial<ITimelineProps> = {}) {
  const heard = { onPick: vi.fn(), onRange: vi.fn() };
  const view = show(
    <Timeline
      label="Breaks over the steps"
      lanes={LANES}
      moments={moments}
      total={100}
      selected={null}
      range={null}
      {...heard}
      {...props}
    />
  );
  return { ...view, ...heard };
}

const marks = (): HTMLElement[] => screen.getAllByRole('button').filter(one => one.dataset['mark']);
const names = (): (string | null)[] => marks().map(mark => mark.getAttribute('aria-label'));
const xOf = (mark: HTMLElement): number =>
  parseFloat(/translate\(([-\d.]+)/.exec(mark.getAttribute('transform') ?? '')?.[1] ?? 'NaN');

describe('clusters', () => {
  const sizes = (steps: readonly number[], near: number): number[] =>
    clusters(
      steps.map(step => at(step)),
      LANES,
      step => step,
      near
    ).map(({ moments }) => moments.length);

  test('given moments apart, then each is a mark', () => {
    expect(sizes([0, 20, 40], 15)).toEqual([1, 1, 1]);
  });

  test('given moments close to a first one, then one mark with all of them; the next begins another', () => {
    expect(sizes([0, 7, 14, 15, 20], 15)).toEqual([3, 2]);
  });

  test('given moments that do not come in order, then the result is the same', () => {
    expect(sizes([20, 0, 15, 14, 7], 15)).toEqual([3, 2]);
  });

  test('given a cluster, then it stands in the middle of its moments', () => {
    expect(clusters([at(10), at(20)], LANES, step => step, 15)[0].x).toBe(15);
  });

  test('given two lanes, then moments of one step stay apart', () => {
    const both = clusters([at(5), at(5, 'l', 'limit')], LANES, step => step, 15);
    expect(both.map(({ lane }) => lane)).toEqual(['break', 'limit']);
  });

  test('given none, or only those of a lane that is not drawn, then no mark', () => {
    expect(clusters([], LANES, step => step)).toEqual([]);
    expect(clusters([at(1, 'x', 'unheard')], LANES, step => step)).toEqual([]);
  });
});

describe('ticks', () => {
  test.each([
    [1, 10, 5, [1, 4, 6, 8, 10]],
    [1, 100, 5, [1, 20, 40, 60, 80, 100]],
    [1, 8400, 4, [1, 5000]],
    [1, 1, 5, [1]],
    [1, 2, 5, [1, 2]]
  ])('given steps %d to %d and room for %d labels, then %j', (first, last, most, expected) => {
    expect(ticks(first, last, most)).toEqual(expected);
  });

  test('given any number of steps, then the labels are whole, in order, inside, and not too many', () => {
    for (const last of [1, 2, 3, 7, 13, 99, 100, 101, 999, 8400, 123456, 1e7]) {
      for (const most of [1, 2, 5, 9]) {
        const found = ticks(1, last, most);
        expect(found.every(tick => Number.isInteger(tick) && tick >= 1 && tick <= last)).toBe(true);
        expect([...found].sort((a, b) => a - b)).toEqual(found);
        expect(found.length).toBeLessThanOrEqual(most + 2);
      }
    }
  });
});

describe('marks', () => {
  test('given events, then each says lane, step counted from 1, and what happened', () => {
    line([at(0, 'a'), at(99, 'z'), at(49, 'l', 'limit', 'not compiled any more')]);
    expect(names()).toEqual([
      'Breaks, step 1: reason a',
      'Limit, step 50: not compiled any more',
      'Breaks, step 100: reason z'
    ]);
  });

  test('given many in one place, then their number, the first three names and how many more', () => {
    line([0, 0, 1, 2, 3, 99].map((step, index) => at(step, `e${index}`)));
    expect(names()[0]).toBe('Breaks, steps 1 to 4: reason e0; reason e1; reason e2 and 2 more');
    expect(marks()[0].querySelector('text')?.textContent).toBe('5');
  });

  test('given the same event in many steps, then its name is said once', () => {
    line([0, 1, 2, 99].map(step => at(step, 'same')));
    expect(names()[0]).toBe('Breaks, steps 1 to 3: reason same');
  });

  test('given the first and the last step, then their marks stand inside the picture', () => {
    line([at(0), at(99)]);
    setWidth(640);
    expect(marks().map(xOf)).toEqual([12, 628]);
  });

  test('given an event after the last counted step, then there is room for it', () => {
    line([at(150)], { total: 100 });
    expect(xOf(marks()[0])).toBeLessThanOrEqual(320);
    expect(names()).toEqual(['Breaks, step 151: reason b150']);
  });

  test('given a single step, then it is drawn without dividing by nothing', () => {
    line([at(0)], { total: 1 });
    expect(xOf(marks()[0])).toBe(160);
  });

  test('given the event that is picked out, then its mark says so', () => {
    line([at(0, 'a'), at(99, 'z')], { selected: 'z' });
    expect(marks().map(mark => mark.getAttribute('aria-pressed'))).toEqual(['false', 'true']);
  });

  test('given HTML in a reason, then it is text', () => {
    const { container } = line([at(0, 'a', 'break', HTML)]);
    expect(names()[0]).toContain(HTML);
    expectNoMarkup(container);
  });

  test('given a timeline, then axe finds nothing in the way', async () => {
    const { container } = line([at(0), at(50), at(99)]);
    await expectAccessible(container);
  });
});

describe('the early part', () => {
  test('given all events at the beginning of a long run, then that part fills the picture until all is asked for', async () => {
    line([at(0), at(7)], { total: 8400 });
    const before = xOf(marks()[1]);
    expect(before).toBe(219.2); // seven tenths of the way from step 1 to step 11
    await userEvent.click(screen.getByRole('button', { name: 'Nothing after step 8; show all 8,400 steps' }));
    expect(marks()).toHaveLength(1);
    await userEvent.click(screen.getByRole('button', { name: 'Only the first 11 steps' }));
    expect(xOf(marks()[1])).toBe(before);
  });

  test.each([
    ['events all over the run', [at(0), at(99)], 100],
    ['a short run', [at(0)], 15]
  ])('given %s, then all of it is shown', (_, moments, total) => {
    line(moments, { total });
    expect(screen.queryByRole('button', { name: /show all/ })).toBeNull();
  });
});

describe('the keyboard', () => {
  test('given marks, then one is in the Tab order and arrows lead to the others', async () => {
    const user = userEvent.setup();
    line([at(0, 'a'), at(50, 'm'), at(99, 'z')]);
    expect(marks().map(mark => mark.getAttribute('tabindex'))).toEqual(['0', '-1', '-1']);
    act(() => marks()[0].focus());
    for (const [key, goal] of [
      ['ArrowRight', 1],
      ['ArrowRight', 2],
      ['ArrowRight', 2],
      ['ArrowLeft', 1],
      ['Home', 0],
      ['ArrowLeft', 0],
      ['ArrowRight', 1],
      ['End', 2]
    ] as const) {
      await user.keyboard(`{${key}}`);
      expect([key, marks().indexOf(document.activeElement as HTMLElement)]).toEqual([key, goal]);
    }
    expect(marks().map(mark => mark.getAttribute('tabindex'))).toEqual(['-1', '-1', '0']);
  });

  test.each(['{Enter}', ' '])(
    'given a mark, when %j is pressed, then all its events are picked',
    async key => {
      const { onPick } = line([at(0, 'a'), at(1, 'b'), at(99, 'z')]);
      act(() => marks()[0].focus());
      await userEvent.keyboard(key);
      expect(onPick).toHaveBeenCalledExactlyOnceWith([at(0, 'a'), at(1, 'b')]);
    }
  );

  test('given a range, when Escape is pressed, then it is taken back; without one Escape goes on', () => {
    const ranged = line([at(0)], { range: { from: 0, to: 5 } });
    fireEvent.keyDown(marks()[0], { key: 'Escape' });
    expect(ranged.onRange).toHaveBeenCalledExactlyOnceWith(null);
    ranged.unmount();
    const free = line([at(0)]);
    fireEvent.keyDown(marks()[0], { key: 'Escape' });
    expect(free.onRange).not.toHaveBeenCalled();
  });

  test('given fewer marks than before, then Tab still leads to one', () => {
    const { rerender } = line([at(0), at(50), at(99)]);
    act(() => marks()[2].focus());
    const heard = { onPick: vi.fn(), onRange: vi.fn() };
    rerender(
      <Timeline
        label="x"
        lanes={LANES}
        moments={[at(0)]}
        total={100}
        selected={null}
        range={null}
        {...heard}
      />
    );
    expect(marks().map(mark => mark.getAttribute('tabindex'))).toEqual(['0']);
  });
});

describe('the pointer', () => {
  const picture = (): Element => document.querySelector('.stc-Timeline-plot svg')!;
  const drag = (from: number, to: number): void => {
    fireEvent.pointerDown(picture(), { clientX: from, button: 0, pointerId: 1 });
    fireEvent.pointerMove(picture(), { clientX: to, pointerId: 1 });
    fireEvent.pointerUp(picture(), { clientX: to, pointerId: 1 });
  };

  test('given a mark, when it is clicked, then its events are picked and no range is drawn', async () => {
    const { onPick, onRange } = line([at(0, 'a'), at(99)]);
    await userEvent.click(marks()[0]);
    expect(onPick).toHaveBeenCalledExactlyOnceWith([at(0, 'a')]);
    expect(onRange).not.toHaveBeenCalled();
  });

  test.each([
    [12, 308, { from: 0, to: 99 }],
    [308, 12, { from: 0, to: 99 }],
    [-50, 2000, { from: 0, to: 99 }],
    [12, 160, { from: 0, to: 50 }]
  ])(
    'given a stretch drawn from %d to %d px, then its steps, whichever way it was drawn',
    (from, to, range) => {
      const { onRange } = line([at(0), at(99)]);
      drag(from, to);
      expect(onRange).toHaveBeenCalledExactlyOnceWith(range);
    }
  );

  test('given a press without moving, then the range is taken back', () => {
    const { onRange } = line([at(0), at(99)], { range: { from: 3, to: 9 } });
    drag(100, 102);
    expect(onRange).toHaveBeenCalledExactlyOnceWith(null);
  });

  test('given a range, then it is shown as a band', () => {
    const { container } = line([at(0), at(99)], { range: { from: 49, to: 50 } });
    const band = container.querySelector('.stc-Timeline-band');
    const [x, width] = ['x', 'width'].map(name => Number(band?.getAttribute(name)));
    expect([x, x + width]).toEqual([expect.closeTo(151, 0), expect.closeTo(169, 0)]);
  });

  test('given a range up to both ends, then its band stays inside the picture', () => {
    const { container } = line([at(0), at(99)], { range: { from: 0, to: 99 } });
    const band = container.querySelector('.stc-Timeline-band');
    const [x, width] = ['x', 'width'].map(name => Number(band?.getAttribute(name)));
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(320);
  });

  test('given another button than the first, then nothing is drawn', () => {
    const { onRange, container } = line([at(0), at(99)]);
    fireEvent.pointerDown(picture(), { clientX: 20, button: 2, pointerId: 1 });
    fireEvent.pointerMove(picture(), { clientX: 200, pointerId: 1 });
    fireEvent.pointerUp(picture(), { clientX: 200, pointerId: 1 });
    expect(onRange).not.toHaveBeenCalled();
    expect(container.querySelector('.stc-Timeline-band')).toBeNull();
  });
});
