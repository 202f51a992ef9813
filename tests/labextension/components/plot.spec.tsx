/** A chart: what Plotly is asked for, when it is asked again, and what is said where it cannot draw. */
import { screen, waitFor } from '@testing-library/react';
import React from 'react';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { IPlotProps, Plot } from '../../../labextension/src/components/plot';
import { observing, setWidth } from '../layout';
import Plotly, { drawn } from '../plotly';
import { expectAccessible, show } from '../view';

const draw: IPlotProps['draw'] = ink => ({
  traces: [{ type: 'scatter', x: [1, 2], y: [3, 4], marker: { color: ink.of('--stc-test-colour') } }],
  layout: { xaxis: { title: { text: 'Step' } }, margin: { l: 1, r: 1, t: 1, b: 1 } }
});

const chart = (props: Partial<IPlotProps> = {}): JSX.Element => (
  <Plot draw={draw} label="Time of each step" theme="JupyterLab Light" height={210} {...props} />
);
const drawnOnce = (): Promise<void> => waitFor(() => expect(drawn).toHaveLength(1));

afterEach(() => {
  vi.restoreAllMocks();
});

describe('given a chart', () => {
  test('when it appears, then it is drawn once, in the theme’s colours, with its own layout over the common one', async () => {
    show(
      <>
        <style>{'[role="img"] { --stc-test-colour: #0072b2 }'}</style>
        {chart()}
      </>
    );
    await drawnOnce();
    const [element, traces, layout] = drawn[0];
    expect(element).toBe(screen.getByRole('img', { name: 'Time of each step' }));
    expect(traces).toMatchObject([{ x: [1, 2], marker: { color: '#0072b2' } }]);
    expect(layout).toMatchObject({ height: 210, showlegend: false, margin: { l: 1 } });
  });

  test('when nothing of it has changed, then it is not drawn again', async () => {
    const { rerender } = show(chart());
    await drawnOnce();
    rerender(chart());
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(drawn).toHaveLength(1);
  });

  test.each([
    ['the theme', { theme: 'JupyterLab Dark' }],
    ['the data', { draw: () => ({ traces: [], layout: {} }) }]
  ])('when %s changes, then it is drawn again', async (_, change) => {
    const { rerender } = show(chart());
    await drawnOnce();
    rerender(chart(change));
    await waitFor(() => expect(drawn).toHaveLength(2));
  });

  test('when it is taken away before Plotly has come, then nothing is drawn', async () => {
    show(chart()).unmount();
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(drawn).toHaveLength(0);
  });

  test('when it is taken away, then Plotly lets go of it and nobody observes its size any more', async () => {
    const purge = vi.spyOn(Plotly, 'purge');
    const { unmount } = show(chart());
    await drawnOnce();
    const [element] = drawn[0];
    unmount();
    await waitFor(() => expect(purge).toHaveBeenCalledExactlyOnceWith(element));
    expect(observing()).toBe(0);
  });

  test('when its width changes, then it is fitted; when it is hidden, then not', async () => {
    const resize = vi.spyOn(Plotly.Plots, 'resize');
    show(chart());
    await drawnOnce();
    screen.getByRole('img').append(document.createElement('svg'));
    setWidth(500);
    await waitFor(() => expect(resize).toHaveBeenCalledOnce());
    setWidth(0);
    setWidth(500);
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(resize).toHaveBeenCalledOnce();
  });

  test('when Plotly cannot draw it, then that is said, until it can', async () => {
    vi.spyOn(Plotly, 'react').mockRejectedValueOnce(new Error('no canvas'));
    const { container, rerender } = show(chart());
    expect((await screen.findByRole('alert')).textContent).toBe('The chart could not be drawn.');
    await expectAccessible(container);
    rerender(chart({ theme: 'JupyterLab Dark' }));
    await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  });
});
