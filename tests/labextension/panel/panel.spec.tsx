/** The panel as a whole: what it says when there is nothing to show, what stays through trouble, and the widget around it. */
import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import { MainAreaWidget } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { StcModel } from '../../../labextension/src/model';
import { StcPanel } from '../../../labextension/src/panel/panel';
import { NoReport } from '../../../labextension/src/panel/states';
import { ITabsProps, Tabs } from '../../../labextension/src/panel/tabs';
import { ApiError } from '../../../labextension/src/request';
import { PANEL_VERSION } from '../../../labextension/src/version';
import { setWidth } from '../layout';
import { another, healthy, HTML, running, troubled } from '../reports';
import { Server, UNREACHABLE } from '../server';
import { expectAccessible, expectNoMarkup, show, trans } from '../view';
import { drawPanel, navigatorOf, openPanel, WIDE } from '../wholepanel';

const RUNNING = running().run.id;
const alerted = (): Promise<HTMLElement> => screen.findByRole('alert');
const retry = (): HTMLElement => screen.getByRole('button', { name: 'Try again' });

/** A panel over a server that something is wrong with from the start. */
function troubledPanel(change: (server: Server) => void) {
  const server = new Server(healthy());
  change(server);
  return drawPanel([], { server });
}

describe('given no answer yet', () => {
  test('when the panel appears, then it says what it waits for', async () => {
    const { container } = troubledPanel(server => {
      vi.spyOn(server, 'status').mockReturnValue(new Promise(() => undefined));
    });
    expect(screen.getByText('Asking the server for runs …')).toBeTruthy();
    await expectAccessible(container);
  });
});

describe('given a server that cannot serve', () => {
  test('when its extension is missing, then it says so and what to install', async () => {
    const { container } = troubledPanel(server => server.fails.set('status', new ApiError(404, 'Not Found')));
    expect((await alerted()).textContent).toContain('The server extension is missing');
    expect(screen.getByText('pip install jupyterlab-stc')).toBeTruthy();
    await expectAccessible(container);
  });

  test('when it has another version, then both are named and the matching one is to be installed', async () => {
    const { container } = troubledPanel(server => {
      server.says = { ...server.says, version: '7.1.0', schema_version: 99 };
    });
    const said = (await alerted()).textContent;
    expect(said).toContain('The server extension has another version');
    expect(said).toContain(`The panel is ${PANEL_VERSION} and the server extension 7.1.0.`);
    expect(screen.getByText(`pip install jupyterlab-stc==${PANEL_VERSION}`)).toBeTruthy();
    await expectAccessible(container);
  });

  test('when its store cannot be read, then the reason is the title', async () => {
    const { container } = troubledPanel(server => {
      server.says.store = {
        path: '/data',
        mode: null,
        ok: false,
        reason: `The store at ${HTML} is not readable.`
      };
    });
    expect((await alerted()).textContent).toContain(`The store at ${HTML} is not readable.`);
    expectNoMarkup(container);
  });

  test('when it refuses, then its remedy is told as well', async () => {
    troubledPanel(server => server.fails.set('status', new ApiError(403, 'Forbidden.', 'Log in again.')));
    expect((await alerted()).textContent).toContain('Forbidden.Log in again.');
  });

  test('when it cannot be reached, then the reason is told', async () => {
    troubledPanel(server => server.fails.set('status', UNREACHABLE));
    expect((await alerted()).textContent).toContain('No connection to the serverNetworkError');
  });

  test('when the trouble is over and the user tries again, then the runs are there', async () => {
    const { server, user, container } = troubledPanel(one =>
      one.fails.set('status', new ApiError(404, 'Not Found'))
    );
    await alerted();
    server.fails.delete('status');
    await user.click(retry());
    await waitFor(() => expect(container.textContent).toContain(healthy().headline));
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

describe('given no runs', () => {
  test('when the panel is shown, then it says how to make one and where it would look for it', async () => {
    const { container } = drawPanel([]);
    expect(await screen.findByText('No runs yet')).toBeTruthy();
    // A magic works in the first line of a cell alone: what belongs into two cells is copied by itself.
    const copied = [...container.querySelectorAll('.stc-Code pre')].map(code => code.textContent);
    expect(copied).toEqual(['%load_ext stc', '%%stc_compile', 'stc run train.py']);
    expect(container.textContent).toContain('The server reads the store in /home/me/.local/share/stc');
    await expectAccessible(container);
  });

  test('when the server goes away, then that is said instead', async () => {
    const { server } = drawPanel([]);
    await screen.findByText('No runs yet');
    server.fails.set('status', UNREACHABLE);
    act(() => server.socket.breaks());
    expect((await alerted()).textContent).toContain('No connection to the server');
  });

  test('when the first run begins, then it is shown without a reload', async () => {
    const { server, container } = drawPanel([]);
    await screen.findByText('No runs yet');
    server.reports.set(RUNNING, running());
    act(() => server.changed(RUNNING));
    await waitFor(() => expect(container.textContent).toContain(running().headline));
  });
});

describe('given a report that is shown', () => {
  test('when the connection is lost, then the report stays, with a note that it may be old, until it is back', async () => {
    const { server, container } = await openPanel([healthy()]);
    server.fails.set('status', UNREACHABLE);
    act(() => server.socket.breaks());
    expect((await alerted()).textContent).toContain('what is shown may be old');
    expect(container.textContent).toContain(healthy().headline);
    await expectAccessible(container);
    server.fails.delete('status');
    await userEvent.click(retry());
    await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  });

  test.each([
    ['missing', new ApiError(404, 'Not Found'), 'The server extension is missing.'],
    ['unusable', new ApiError(403, 'Forbidden.'), 'Forbidden.']
  ])('when the server comes back %s, then a note says so above the report', async (_, failure, words) => {
    const { server, container } = await openPanel([healthy()]);
    server.fails.set('status', failure);
    act(() => server.socket.breaks());
    expect((await alerted()).textContent).toContain(words);
    expect(container.textContent).toContain(healthy().headline);
  });

  test('when the server comes back in another version, then a note names both', async () => {
    const { server } = await openPanel([healthy()]);
    server.says = { ...server.says, version: '7.1.0', schema_version: 99 };
    act(() => server.socket.breaks());
    expect((await alerted()).textContent).toContain(
      `The panel is ${PANEL_VERSION} and the server extension 7.1.0.`
    );
  });

  test('when the run ends, then that is announced once and not each step', async () => {
    const { server, container } = await openPanel([running()]);
    const live = container.querySelector('[aria-live="polite"]');
    expect(live?.textContent).toBe('');
    server.reports.set(RUNNING, { ...another(running(), RUNNING), headline: 'Compiling graph 3.' });
    act(() => server.changed(RUNNING));
    await waitFor(() => expect(container.textContent).toContain('Compiling graph 3.'));
    expect(live?.textContent).toBe('');
    server.reports.set(RUNNING, another(healthy(), RUNNING));
    act(() => server.changed(RUNNING));
    await waitFor(() => expect(live?.textContent).toBe(`${RUNNING} has ended. ${healthy().headline}`));
  });

  test('when a report cannot be had, then why, and trying again brings it', async () => {
    const { server, user, container } = drawPanel([healthy()], {
      server: (() => {
        const one = new Server(healthy());
        one.fails.set('report', new ApiError(500, 'The record is damaged.', 'Run the cell again.'));
        return one;
      })()
    });
    expect((await alerted()).textContent).toContain('The record is damaged.Run the cell again.');
    server.fails.delete('report');
    await user.click(retry());
    await waitFor(() => expect(container.textContent).toContain(healthy().headline));
  });

  test('when another run is chosen, then its own report is shown', async () => {
    const { user, container } = await openPanel([healthy(), troubled()]);
    expect(container.textContent).toContain('Failed after 212 steps');
    await user.click(screen.getByRole('button', { name: 'Choose a run' }));
    await user.click(screen.getByRole('button', { name: /^Completed.*digits/ }));
    await waitFor(() => expect(container.textContent).toContain(healthy().headline));
    expect(container.textContent).not.toContain('Failed after 212 steps');
  });

  test('when it gets wide and narrow, then the shape follows and the view stays', async () => {
    const { container } = await openPanel([healthy()], { tab: 'fusion' });
    expect(screen.queryByRole('separator')).toBeNull();
    setWidth(WIDE);
    expect(screen.getByRole('separator')).toBeTruthy();
    setWidth(280);
    expect(screen.queryByRole('separator')).toBeNull();
    expect(container.textContent).toContain('Your code');
  });
});

describe('given no report', () => {
  test.each([
    [{ state: 'none' } as const, 'No run chosen'],
    [{ state: 'loading', id: 'x' } as const, 'Loading the run …']
  ])('when its state is %o, then "%s"', (state, words) => {
    show(<NoReport state={state} onRetry={() => undefined} />);
    expect(screen.getByText(words)).toBeTruthy();
  });
});

describe('the tabs', () => {
  function Shown(props: Partial<ITabsProps>): JSX.Element {
    const [current, setCurrent] = React.useState<ITabsProps['current']>('overview');
    const tabs: ITabsProps['tabs'] = [
      { tab: 'overview', title: 'Overview', count: 0 },
      { tab: 'fusion', title: 'Fusion', count: 0 },
      { tab: 'breaks', title: 'Breaks', count: 16 }
    ];
    return (
      <>
        <Tabs id="x" name="Views" tabs={tabs} current={current} onShow={setCurrent} {...props} />
        <div id="x-view" role="tabpanel" aria-labelledby={`x-${current}`}>
          view
        </div>
      </>
    );
  }
  const chosen = (): (string | null)[] =>
    screen.getAllByRole('tab', { selected: true }).map(tab => tab.textContent);

  test('given tabs, then one is chosen, counts stand beside it, and a count of nothing does not', async () => {
    const { container } = show(<Shown />);
    expect(screen.getAllByRole('tab').map(tab => tab.textContent)).toEqual([
      'Overview',
      'Fusion',
      'Breaks16'
    ]);
    expect(screen.getAllByRole('tab').map(tab => tab.tabIndex)).toEqual([0, -1, -1]);
    await expectAccessible(container);
  });

  test('given arrows, Home and End, then tab after tab is shown, round and round, with the focus', async () => {
    const user = userEvent.setup();
    show(<Shown />);
    await user.click(screen.getByRole('tab', { name: 'Overview' }));
    for (const [key, goal] of [
      ['ArrowRight', 'Fusion'],
      ['ArrowRight', 'Breaks16'],
      ['ArrowRight', 'Overview'],
      ['ArrowLeft', 'Breaks16'],
      ['Home', 'Overview'],
      ['End', 'Breaks16']
    ]) {
      await user.keyboard(`{${key}}`);
      expect([key, ...chosen()]).toEqual([key, goal]);
      expect(document.activeElement?.textContent).toBe(goal);
    }
  });

  test('given the panel, when a tab is clicked, then the model knows and that view is shown', async () => {
    const { user, model } = await openPanel([troubled()]);
    await user.click(screen.getByRole('tab', { name: /Breaks/ }));
    expect(model.tab).toBe('breaks');
    expect(screen.getByText('Graph breaks')).toBeTruthy();
    expect(screen.getByRole('tab', { name: /Breaks/ }).textContent).toBe('Breaks16');
  });
});

describe('the widget', () => {
  const attached: Widget[] = [];

  function widget() {
    const server = new Server(healthy());
    const model = new StcModel(server);
    model.interval = 0;
    const panel = new StcPanel({ model, navigator: navigatorOf(), trans, themes: null });
    const area = new MainAreaWidget({ content: panel });
    attached.push(area);
    return { server, model, panel, area };
  }

  afterEach(() => attached.splice(0).forEach(one => one.dispose()));

  test('given a widget that is shown, then it watches its run; hidden, it does not; shown again, it catches up', async () => {
    const { server, model, area, panel } = widget();
    model.start();
    await waitFor(() => expect(model.runs).toHaveLength(1));
    expect(server.asked.filter(one => one.startsWith('report'))).toHaveLength(0);
    Widget.attach(area, document.body);
    await waitFor(() => expect(panel.node.textContent).toContain(healthy().headline));
    panel.hide();
    server.reports.set(healthy().run.id, { ...healthy(), headline: 'Later.' });
    server.changed(healthy().run.id);
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(server.asked.filter(one => one.startsWith('report'))).toHaveLength(1);
    expect(panel.node.textContent).not.toContain('Later.');
    panel.show();
    await waitFor(() => expect(panel.node.textContent).toContain('Later.'));
    model.dispose();
  });

  test('given a widget, then it is a region with a name', () => {
    const { node } = new StcPanel({
      model: new StcModel(new Server()),
      navigator: navigatorOf(),
      trans,
      themes: null
    });
    expect([node.getAttribute('role'), node.getAttribute('aria-label')]).toEqual(['region', 'STC']);
  });

  test('given a widget, when it is disposed of, then nobody watches any more', async () => {
    const { server, model, area, panel } = widget();
    model.start();
    Widget.attach(area, document.body);
    await waitFor(() => expect(panel.node.textContent).toContain(healthy().headline));
    const before = server.asked.length;
    area.dispose();
    server.changed(healthy().run.id);
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(server.asked.slice(before).filter(one => one.startsWith('report'))).toEqual([]);
    model.dispose();
  });
});
