/**
 * A Plotly chart in the theme's colours. Plotly is large and is loaded when the first chart is drawn.
 *
 * Plotly needs computed colours, so a chart is drawn anew when the theme changes.
 */
import React from 'react';
import type { Config, Data, Layout } from 'plotly.js';

import { usePanel } from './context';

/** Computed colours and fonts of the theme. */
export interface IInk {
  text: string;
  muted: string;
  grid: string;
  background: string;
  font: string;
  size: number;
  /** The value of any CSS variable. */
  of: (name: string) => string;
}

export interface IPlotProps {
  /** Made anew when `data` or the theme changes. */
  draw: (ink: IInk) => { traces: Data[]; layout: Partial<Layout> };
  /** What a screen reader says in place of the picture. */
  label: string;
  /** Changes with the theme. */
  theme: string;
  height: number;
}

const CONFIG: Partial<Config> = { displayModeBar: false, responsive: false, doubleClick: 'reset' };

export function Plot({ draw, label, theme, height }: IPlotProps): JSX.Element {
  const { trans } = usePanel();
  const frame = React.useRef<HTMLDivElement>(null);
  const [failed, setFailed] = React.useState(false);

  React.useEffect(() => {
    let current = true;
    void import('plotly.js-basic-dist-min')
      .then(async ({ default: Plotly }) => {
        if (current && frame.current) {
          const ink = inkOf(frame.current);
          const { traces, layout } = draw(ink);
          await Plotly.react(frame.current, traces, { ...base(ink, height), ...layout }, CONFIG);
          setFailed(false);
        }
      })
      .catch(() => current && setFailed(true));
    return () => {
      current = false;
    };
  }, [draw, theme, height]);

  React.useEffect(() => {
    const element = frame.current;
    if (!element) {
      return;
    }
    let width = element.clientWidth;
    const observer = new ResizeObserver(() => {
      const now = element.clientWidth;
      if (now > 0 && now !== width) {
        width = now;
        void import('plotly.js-basic-dist-min').then(
          ({ default: Plotly }) =>
            element.isConnected && element.childElementCount > 0 && Plotly.Plots.resize(element)
        );
      }
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      void import('plotly.js-basic-dist-min').then(({ default: Plotly }) => Plotly.purge(element));
    };
  }, []);

  return (
    <div className="stc-Plot" style={{ height }}>
      <div ref={frame} role="img" aria-label={label} style={{ height }} />
      {failed && <p role="alert">{trans.__('The chart could not be drawn.')}</p>}
    </div>
  );
}

function inkOf(element: HTMLElement): IInk {
  const style = window.getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return {
    text: of('--jp-ui-font-color1'),
    muted: of('--jp-ui-font-color2'),
    grid: of('--jp-border-color2'),
    background: of('--jp-layout-color1'),
    font: of('--jp-ui-font-family') || style.fontFamily,
    size: parseFloat(style.fontSize) || 12,
    of
  };
}

function base(ink: IInk, height: number): Partial<Layout> {
  return {
    height,
    autosize: true,
    showlegend: false,
    paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    font: { family: ink.font, size: ink.size, color: ink.text },
    margin: { l: 48, r: 10, t: 8, b: 40 },
    hoverlabel: {
      bgcolor: ink.background,
      bordercolor: ink.grid,
      font: { family: ink.font, size: ink.size, color: ink.text },
      align: 'left'
    }
  };
}

/** An axis with its unit in the title. */
export function axis(ink: IInk, title: string): Partial<Layout['xaxis']> {
  return {
    title: { text: title, standoff: 8, font: { size: ink.size, color: ink.muted } },
    gridcolor: ink.grid,
    linecolor: ink.grid,
    tickfont: { size: ink.size - 1, color: ink.muted },
    zeroline: false,
    automargin: false
  };
}
