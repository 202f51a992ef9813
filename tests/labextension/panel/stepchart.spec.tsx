/** The time of each step, and where the compile time went. */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { Data, Layout } from 'plotly.js';
import React from 'react';
import { describe, expect, test } from 'vitest';

import { THIN } from '../../../labextension/src/format';
import { PhaseBar } from '../../../labextension/src/panel/phases';
import { StepChart, stepPlot } from '../../../labextension/src/panel/stepchart';
import { Phase, Report, Steps, StepSeries } from '../../../labextension/src/records';
import { drawn } from '../plotly';
import { healthy, HTML, leftEager, running, troubled } from '../reports';
import { expectAccessible, expectNoMarkup, show, trans } from '../view';

function series(kinds: string, seconds: readonly (number | null)[]): StepSeries {
  return {
    index: seconds.map((_, at) => at),
    start_s: seconds.map((_, at) => at),
    duration_s: seconds as number[],
    kind: kinds,
    decimated: false
  };
}
const repeated = (kind: string, times: number, seconds: number): [string, number[]] => [
  kind.repeat(times),
  Array<number>(times).fill(seconds)
];

describe('the scale', () => {
  test.each([
    [2, 's', 1],
    [0.018, 'ms', 1e-3],
    [0.0002, 'µs', 1e-6],
    [1e-8, 'µs', 1e-6]
  ])('given steps of %d s, then its unit is %s', (seconds, unit, factor) => {
    expect(stepPlot(series(...repeated('c', 50, seconds)))).toMatchObject({ unit, factor });
  });

  test('given compiling steps a thousand times as long, then the scale follows the others and counts these', () => {
    const plot = stepPlot(healthy().steps.series);
    expect(plot.unit).toBe('ms');
    expect(plot.top).toBeGreaterThan(18.9);
    expect(plot.top).toBeLessThan(60);
    expect(plot.above).toBeGreaterThanOrEqual(1);
    expect(Math.max(...(plot.points.x?.y ?? []))).toBeLessThan(plot.top);
    expect(Math.max(...(plot.points.x?.seconds ?? []))).toBeGreaterThan(1);
  });

  test('given five slow eager steps among thousands, then they are inside the scale', () => {
    const [kinds, seconds] = repeated('c', 5000, 0.001);
    const plot = stepPlot(series(`eeeee${kinds}`, [...Array<number>(5).fill(0.1), ...seconds]));
    expect(plot.top).toBeGreaterThan(100);
    expect(plot.above).toBe(0);
  });

  test('given one outlier in a hundred, then it does not press the others flat', () => {
    const [kinds, seconds] = repeated('c', 99, 0.01);
    const plot = stepPlot(series(`${kinds}c`, [...seconds, 5]));
    expect(plot.top).toBeLessThan(20);
    expect(plot.above).toBe(1);
  });

  test('given only steps that compiled, then they are what the scale follows', () => {
    const plot = stepPlot(series('xxx', [1, 2, 3]));
    expect(plot.top).toBeGreaterThan(3);
  });

  test.each([
    ['no steps', series('', [])],
    ['steps of no length', series('cc', [0, 0])]
  ])('given %s, then there is a scale all the same', (_, of) => {
    const plot = stepPlot(of);
    expect(plot.top).toBeGreaterThan(0);
    expect(Number.isFinite(plot.top)).toBe(true);
  });
});

describe('the points', () => {
  test('given a series, then steps count from 1 and each kind is by itself', () => {
    const { points } = stepPlot(series('wec', [0.03, 0.02, 0.01]));
    expect(points.w?.x).toEqual([1]);
    expect(points.e).toMatchObject({ x: [2], seconds: [0.02] });
    expect(points.c).toMatchObject({ x: [3], seconds: [0.01] });
  });

  test.each([null, NaN, Infinity])(
    'given a step of which the time is %s, then it is a gap and no zero',
    unknown => {
      const plot = stepPlot(series('cccc', [0.01, unknown, 0.01, 0.01]));
      expect(plot.points.c?.x).toEqual([1, 3, 4]);
      expect(plot.points.c?.y.every(value => value > 0)).toBe(true);
      expect(plot).toMatchObject({ unit: 'ms', above: 0 });
      expect(plot.top).toBeLessThan(15);
    }
  );

  test('given a series in which nothing is known, then nothing is drawn', () => {
    expect(stepPlot(series('cc', [null, null])).points).toEqual({});
  });

  test('given fewer kinds than steps, then the rest did not end', () => {
    expect(stepPlot(series('c', [0.01, 0.01])).points.i?.x).toEqual([2]);
  });
});

describe('the chart', () => {
  async function chart(steps: Steps) {
    const view = show(<StepChart steps={steps} trans={trans} theme="JupyterLab Light" />);
    await waitFor(() => expect(drawn).toHaveLength(1));
    const [, traces, layout] = drawn[0] as [
      Element,
      (Data & { x: number[]; name: string })[],
      Partial<Layout>
    ];
    return { ...view, traces, layout };
  }
  const legend = (): (string | null)[] =>
    [...document.querySelectorAll('.stc-Legend li')].map(entry => entry.textContent);

  test('given a run that paid, then its kinds, both medians and the step that it paid for itself at', async () => {
    const { traces, layout, container } = await chart(healthy().steps);
    expect(traces.map(trace => trace.name)).toEqual(['Eager', 'Compiled', 'Compiling', 'Warm-up']);
    expect(layout.shapes?.filter(shape => shape.xref === 'paper').map(shape => shape.y0)).toEqual([
      expect.closeTo(18.5, 1),
      expect.closeTo(14, 1)
    ]);
    expect(layout.annotations?.map(({ x, text }) => [x, text])).toEqual([[4738, 'paid for at 4,738']]);
    expect(layout.xaxis?.title).toMatchObject({ text: 'Step' });
    expect(layout.yaxis?.title).toMatchObject({ text: 'Time of a step (ms)' });
    expect(legend()).toEqual([
      'Eager',
      'Compiled',
      'Compiling',
      'Warm-up',
      '▲ at the upper edge: off the scale'
    ]);
    expect(screen.getByRole('img').getAttribute('aria-label')).toBe(
      'Time of each step. Eager: 5, Compiled: 943, Compiling: 1, Warm-up: 2.'
    );
    expect(screen.getByText('951 of 8,400 steps are drawn.')).toBeTruthy();
    await expectAccessible(container);
  });

  test('given a step off the scale, then it is a triangle at the edge with its time on hover', async () => {
    const { traces, layout } = await chart(healthy().steps);
    const compiling = traces.find(trace => trace.name === 'Compiling') as unknown as {
      text: string[];
      marker: { symbol: string[] };
      y: number[];
    };
    expect(compiling.marker.symbol).toEqual(['triangle-up']);
    expect(compiling.text[0]).toContain(`${THIN}s`);
    expect(compiling.y[0]).toBeLessThan((layout.yaxis?.range as number[])[1]);
  });

  test('given a run that is left eager, then neither a compiled median nor a step that paid', async () => {
    const { layout } = await chart(leftEager().steps);
    expect(layout.shapes).toHaveLength(1);
    expect(layout.annotations).toEqual([]);
    expect(screen.queryByText(/steps are drawn/)).toBeNull();
  });

  test('given a step that would pay after the end, then it is not drawn', async () => {
    const steps = { ...healthy().steps, break_even: { step: 9000, reached: false, reason: null } };
    const { layout } = await chart(steps);
    expect(layout.annotations).toEqual([]);
  });

  test('given steps that were partly compiled or did not end, then they are told apart', async () => {
    const { traces } = await chart(troubled().steps);
    expect(traces.map(trace => trace.name)).toEqual(['Partly compiled', 'Compiling', 'Did not end']);
  });

  test('given a live update without a new step, then it is not drawn again; with one it is', async () => {
    const { rerender } = await chart(running().steps);
    const again = (steps: Steps): void =>
      rerender(<StepChart steps={steps} trans={trans} theme="JupyterLab Light" />);
    again(running().steps);
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(drawn).toHaveLength(1);
    const more = running().steps;
    more.series.index.push(7);
    more.series.duration_s.push(0.018);
    more.series.kind += 'e';
    again(more);
    await waitFor(() => expect(drawn).toHaveLength(2));
  });
});

describe('the phases', () => {
  const phase = (name: string, self_s: number, count = 1): Phase => ({
    name,
    label: `Phase ${name}`,
    self_s,
    count
  });
  const rows = (): (string | null)[][] =>
    within(screen.getByRole('table'))
      .getAllByRole('row')
      .slice(1)
      .map(row => [...row.children].map(cell => cell.textContent));
  const slices = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('.stc-Phases-bar > span')];
  const bar = (phases: Phase[], total: number | null) => show(<PhaseBar phases={phases} total={total} />);

  test('given phases that make up the whole, then each with its time and share', async () => {
    const { container } = bar([phase('a', 3), phase('b', 1)], 4);
    expect(rows()).toEqual([
      ['Phase a', `3.00${THIN}s`, `75${THIN}%`],
      ['Phase b', `1.00${THIN}s`, `25${THIN}%`]
    ]);
    expect(slices().map(slice => slice.style.flexGrow)).toEqual(['3', '1']);
    await expectAccessible(container);
  });

  test('given a total that is longer than its phases, then what lies between them is a part of its own', () => {
    bar([phase('a', 3)], 4);
    expect(rows()[1]).toEqual(['Between phases', `1.00${THIN}s`, `25${THIN}%`]);
  });

  test.each([
    ['not known', null],
    ['shorter than its phases', 2]
  ])('given a total that is %s, then the phases are the whole', (_, total) => {
    bar([phase('a', 3), phase('b', 1)], total);
    expect(rows().map(([, , share]) => share)).toEqual([`75${THIN}%`, `25${THIN}%`]);
  });

  test('given a phase that took no time, then it is left out', () => {
    bar([phase('a', 3), phase('b', 0)], 3);
    expect(rows()).toHaveLength(1);
  });

  test('given a sliver, then it is in the table and not in the bar, where nobody could see it', () => {
    bar([phase('a', 1000), phase('b', 1)], 1001);
    expect(rows()).toHaveLength(2);
    expect(slices()).toHaveLength(1);
  });

  test('given nothing but zeros, then nothing is divided by nothing', () => {
    const { container } = bar([phase('a', 0)], 0);
    expect(slices()).toHaveLength(0);
    expect(container.textContent).not.toContain('NaN');
  });

  test('given a row that is pointed at, then its slice lights up, and the other way round', () => {
    bar([phase('a', 3), phase('b', 1)], 4);
    const [, second] = within(screen.getByRole('table')).getAllByRole('row').slice(1);
    fireEvent.mouseEnter(second);
    expect(slices().map(slice => slice.classList.contains('stc-mod-lit'))).toEqual([false, true]);
    fireEvent.mouseLeave(second);
    fireEvent.mouseEnter(slices()[0]);
    expect(second.className).not.toContain('stc-mod-lit');
    expect(slices()[0].className).toContain('stc-mod-lit');
  });

  test('given HTML in a label, then it is text', () => {
    const { container } = bar([{ ...phase('a', 1), label: HTML }], 1);
    expect(container.textContent).toContain(HTML);
    expectNoMarkup(container);
  });

  test.each([healthy, troubled, running])(
    'given a real record, then its shares make up the whole: %#',
    (of: () => Report) => {
      const { phases, total_s: total } = of().compile;
      bar(phases, total);
      const sum = rows().reduce((all, [, , share]) => all + parseFloat(share ?? ''), 0);
      expect(Math.abs(sum - 100)).toBeLessThanOrEqual(rows().length / 2);
    }
  );
});
