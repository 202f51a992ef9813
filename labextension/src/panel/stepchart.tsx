/**
 * The time of each step, by kind. Compiling steps take a thousand times as long as others, so the scale follows the others
 * and what lies above stands at the upper edge as ▲, with its time on hover.
 */
import React from 'react';
import type { Data, Layout } from 'plotly.js';
import { TranslationBundle } from '@jupyterlab/translation';

import { axis, IInk, Plot } from '../components/plot';
import { count, duration } from '../format';
import { Steps, StepSeries } from '../records';

type Kind = 'e' | 'c' | 'x' | 'w' | 'm' | 'i';

interface IKind {
  kind: Kind;
  label: string;
  /** Plotly's name of the shape. */
  symbol: string;
  /** The same shape, for the legend. */
  path: string;
  hollow?: boolean;
}

const kinds = (trans: TranslationBundle): IKind[] => [
  { kind: 'e', label: trans.__('Eager'), symbol: 'diamond', path: 'M5 0 10 5 5 10 0 5z' },
  {
    kind: 'c',
    label: trans.__('Compiled'),
    symbol: 'circle',
    path: 'M5 .5a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9z'
  },
  { kind: 'm', label: trans.__('Partly compiled'), symbol: 'square', path: 'M1 1h8v8H1z' },
  { kind: 'x', label: trans.__('Compiling'), symbol: 'triangle-up', path: 'M5 .5 10 9.500H0z' },
  {
    kind: 'w',
    label: trans.__('Warm-up'),
    symbol: 'circle-open',
    path: 'M5 1.200a3.800 3.800 0 1 1 0 7.600 3.800 3.800 0 0 1 0-7.600z',
    hollow: true
  },
  { kind: 'i', label: trans.__('Did not end'), symbol: 'x-thin', path: 'M1 1l8 8M9 1 1 9', hollow: true }
];

const UNITS: readonly (readonly [number, string])[] = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs']
];

/** Room above what the scale follows. */
const HEADROOM = 1.18;

export interface IPoints {
  x: number[];
  y: number[];
  seconds: number[];
}

export interface IStepPlot {
  /** Seconds a unit of the y axis has. */
  factor: number;
  unit: string;
  /** Upper end of the y axis, in its unit. */
  top: number;
  /** Steps above it. */
  above: number;
  points: Partial<Record<Kind, IPoints>>;
}

/** The series in columns by kind, with the scale that fits its ordinary steps. */
export function stepPlot(series: StepSeries): IStepPlot {
  // Each kind by itself: five eager steps are to be seen beside thousands of compiled ones.
  const timed = (kind: string | null): number[] =>
    series.duration_s.filter(
      (seconds, at) => Number.isFinite(seconds) && (kind === null || series.kind[at] === kind)
    );
  const ordinary = ['e', 'c', 'm'].map(timed).filter(seconds => seconds.length > 0);
  const measures = (ordinary.length > 0 ? ordinary : [timed(null)]).map(seconds =>
    seconds.sort((a, b) => a - b)
  );
  const median = Math.min(...measures.map(sorted => sorted[Math.floor(sorted.length / 2)] ?? 1));
  // One step in fifty may be an outlier without pressing all others flat.
  const high = Math.max(
    ...measures.map(sorted =>
      Math.min(
        sorted[Math.ceil((sorted.length - 1) * 0.98)] ?? 1,
        3 * (sorted[Math.floor(sorted.length / 2)] ?? 1)
      )
    )
  );
  const [factor, unit] = UNITS.find(([size]) => median >= size) ?? UNITS[UNITS.length - 1];
  const top = (high * HEADROOM) / factor || 1;
  const points: IStepPlot['points'] = {};
  let above = 0;
  series.index.forEach((step, at) => {
    const seconds = series.duration_s[at];
    if (!Number.isFinite(seconds)) {
      return; // not known: a gap, and no step of no time at all
    }
    const kind = (series.kind[at] ?? 'i') as Kind;
    const of = (points[kind] ??= { x: [], y: [], seconds: [] });
    const value = seconds / factor;
    above += Number(value > top);
    of.x.push(step + 1);
    of.y.push(Math.min(value, top * 0.985));
    of.seconds.push(seconds);
  });
  return { factor, unit, top, above, points };
}

export interface IStepChartProps {
  steps: Steps;
  trans: TranslationBundle;
  theme: string;
}

const HEIGHT = 210;

export function StepChart({ steps, trans, theme }: IStepChartProps): JSX.Element {
  const { series } = steps;
  const last = series.index.length - 1;
  // The report is a new object at each update; the chart is drawn again only when there is something new in it.
  const version = [
    series.index.length,
    series.index[last],
    series.kind[last],
    steps.eager?.n,
    steps.compiled?.n
  ].join();
  const plot = React.useMemo(() => stepPlot(series), [version]); // eslint-disable-line react-hooks/exhaustive-deps
  const draw = React.useCallback((ink: IInk) => drawn(plot, steps, trans, ink), [plot, trans]); // eslint-disable-line react-hooks/exhaustive-deps

  const present = kinds(trans).filter(({ kind }) => plot.points[kind]);
  const said = present.map(({ kind, label }) => `${label}: ${count(plot.points[kind]?.x.length)}`).join(', ');
  return (
    <div className="stc-StepChart">
      <Plot draw={draw} label={trans.__('Time of each step. %1.', said)} theme={theme} height={HEIGHT} />
      <ul className="stc-Legend" aria-hidden="true">
        {present.map(({ kind, label, path, hollow }) => (
          <li key={kind}>
            <svg
              viewBox="0 0 10 10"
              className={`stc-Legend-mark stc-mod-kind-${kind} ${hollow ? 'stc-mod-hollow' : ''}`}
            >
              <path d={path} />
            </svg>
            {label}
          </li>
        ))}
        {plot.above > 0 && <li className="stc-mod-note">{trans.__('▲ at the upper edge: off the scale')}</li>}
      </ul>
      {series.decimated && (
        <p className="stc-Note">
          {trans.__('%1 of %2 steps are drawn.', count(series.index.length), count(steps.total))}
        </p>
      )}
    </div>
  );
}

function drawn(
  plot: IStepPlot,
  steps: Steps,
  trans: TranslationBundle,
  ink: IInk
): { traces: Data[]; layout: Partial<Layout> } {
  const many = Object.values(plot.points).reduce((sum, points) => sum + points.x.length, 0) > 300;
  const traces: Data[] = kinds(trans).flatMap(({ kind, label, symbol }) => {
    const points = plot.points[kind];
    if (!points) {
      return [];
    }
    const colour = ink.of(`--stc-step-${kind}`);
    const high = points.seconds.map(seconds => seconds / plot.factor > plot.top);
    const shape = high.some(Boolean) ? high.map(is => (is ? 'triangle-up' : symbol)) : symbol;
    return [
      {
        type: 'scatter',
        mode: 'markers',
        name: label,
        x: points.x,
        y: points.y,
        text: points.seconds.map(seconds => duration(seconds)),
        hovertemplate: `${trans.__('Step')} %{x:,}<br>${label}: %{text}<extra></extra>`,
        marker: {
          symbol: shape,
          color: colour,
          size: kind === 'c' && many ? 4 : 7,
          opacity: kind === 'c' && many ? 0.65 : 1,
          line: { width: symbol.endsWith('open') || symbol.endsWith('thin') ? 1.5 : 0, color: colour }
        },
        cliponaxis: false
      } as Data
    ];
  });
  const shapes: Partial<Layout['shapes'][number]>[] = [];
  const annotations: Partial<Layout['annotations'][number]>[] = [];
  const medians = [
    ['e', steps.eager],
    ['c', steps.compiled]
  ] as const;
  for (const [kind, timing] of medians) {
    if (timing) {
      const y = timing.median_s / plot.factor;
      shapes.push({
        type: 'line',
        xref: 'paper',
        x0: 0,
        x1: 1,
        y0: y,
        y1: y,
        line: { width: 1.5, dash: kind === 'e' ? 'dash' : 'solid', color: ink.of(`--stc-step-${kind}`) },
        layer: 'below'
      });
    }
  }
  const even = steps.break_even?.step ?? null;
  if (even !== null && even <= steps.total) {
    shapes.push({
      type: 'line',
      yref: 'paper',
      x0: even,
      x1: even,
      y0: 0,
      y1: 1,
      line: { width: 1.5, dash: 'dot', color: ink.muted }
    });
    annotations.push({
      x: even,
      y: 0,
      yref: 'paper',
      xanchor: even > steps.total / 2 ? 'right' : 'left',
      yanchor: 'bottom',
      text: trans.__('paid for at %1', count(even)),
      showarrow: false,
      font: { size: ink.size - 1, color: ink.muted },
      bgcolor: ink.background
    });
  }
  return {
    traces,
    layout: {
      xaxis: { ...axis(ink, trans.__('Step')), rangemode: 'nonnegative', nticks: 6, tickformat: ',d' },
      yaxis: { ...axis(ink, trans.__('Time of a step (%1)', plot.unit)), range: [0, plot.top], nticks: 5 },
      hovermode: 'closest',
      shapes,
      annotations
    }
  };
}
