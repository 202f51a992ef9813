/** The plugin: what it adds to JupyterLab, its commands and its settings. The registries are JupyterLab's own. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { ICommandPalette, MainAreaWidget } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { ServerConnection } from '@jupyterlab/services';
import { ISettingRegistry, SettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { waitFor } from '@testing-library/react';
import { CommandRegistry } from '@lumino/commands';
import { PromiseDelegate } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';
import { afterEach, describe, expect, test, vi } from 'vitest';

import schema from '../../labextension/schema/plugin.json';
import plugin from '../../labextension/src/index';
import { StcModel } from '../../labextension/src/model';
import { Report } from '../../labextension/src/records';
import { SCHEMA_VERSION } from '../../labextension/src/tokens';
import { PANEL_VERSION } from '../../labextension/src/version';
import { healthy, running, summaryOf, troubled } from './reports';
import { Socket } from './server';

const ID = 'jupyterlab-stc:plugin';
const REPORTS = [troubled(), healthy()];

const models: StcModel[] = [];

afterEach(() => {
  models.splice(0).forEach(model => model.dispose());
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

const json = (value: unknown): Response => new Response(JSON.stringify(value), { status: 200 });

/** What the server extension answers. */
function answer(reports: readonly Report[], path: string): Response {
  if (path.endsWith('/status')) {
    const store = { path: '/data', mode: 'wal', ok: true, reason: null };
    return json({ version: PANEL_VERSION, schema_version: SCHEMA_VERSION, store });
  }
  if (path.endsWith('/runs')) {
    return json({ runs: reports.map(summaryOf) });
  }
  return json(reports.find(report => path.endsWith(report.run.id)));
}

/** Opens as soon as somebody listens. */
function OpeningSocket(): Socket {
  const socket = new Socket();
  queueMicrotask(() => socket.opens());
  return socket;
}

/** Settings as the user has written them, checked by the plugin's own schema. */
function settingsOf(written: string): ISettingRegistry {
  let raw = written;
  return new SettingRegistry({
    connector: {
      fetch: async (id: string) =>
        ({ id, raw, schema, data: { composite: {}, user: {} }, version: PANEL_VERSION }) as never,
      list: async () => ({ ids: [ID], values: [] }),
      save: async (_: string, text: string) => {
        raw = text;
      },
      remove: async () => undefined
    }
  });
}

interface ISetting {
  reports?: readonly Report[];
  settings?: string;
  /** As in an application without side bars. */
  plain?: boolean;
}

function start({ reports = REPORTS, settings = '{}', plain = false }: ISetting = {}) {
  const asked: string[] = [];
  const restored = new PromiseDelegate<void>();
  const commands = new CommandRegistry();
  const shell = {
    add: vi.fn((widget: Widget) => Widget.attach(widget, document.body)),
    activateById: vi.fn((_: string) => undefined)
  };
  const app = {
    commands,
    shell,
    restored: restored.promise,
    serviceManager: {
      serverSettings: ServerConnection.makeSettings({
        baseUrl: 'http://localhost:8888/',
        WebSocket: OpeningSocket as unknown as typeof WebSocket,
        fetch: async input => {
          const { pathname } = new URL(new Request(input).url);
          asked.push(pathname);
          return answer(reports, pathname);
        }
      })
    }
  } as unknown as JupyterFrontEnd;
  const palette = { addItem: vi.fn() } as unknown as ICommandPalette;
  const launcher = { add: vi.fn() } as unknown as ILauncher;
  const statusBar = { registerStatusItem: vi.fn() };
  const registry = settingsOf(settings);
  const others = plain
    ? []
    : [
        {},
        null,
        palette,
        launcher,
        registry,
        statusBar as unknown as IStatusBar,
        null,
        null,
        null,
        null,
        null
      ];
  const model = plugin.activate(
    app,
    ...others.map(one => one ?? null),
    ...Array(plain ? 11 : 0).fill(null)
  ) as StcModel;
  models.push(model);
  return { app, asked, restored, commands, shell, model, palette, launcher, statusBar, registry };
}

const isActive = ({ statusBar }: ReturnType<typeof start>): boolean =>
  statusBar.registerStatusItem.mock.calls[0][1].isActive();

describe('given JupyterLab', () => {
  test('when the plugin starts, then its panel stands in the right side bar, with a name and an icon', () => {
    const { shell } = start();
    const [side, area] = shell.add.mock.calls[0] as unknown as [Widget, string];
    expect([side.id, area]).toEqual(['stc-panel', 'right']);
    expect(side.title.caption).toContain('STC');
    expect(side.title.icon).toBeDefined();
  });

  test('when it has not been restored yet, then the server is not asked; then it is', async () => {
    const { asked, restored, model } = start();
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(asked).toEqual([]);
    restored.resolve();
    await waitFor(() => expect(model.runs).toHaveLength(2));
    expect(asked[0]).toBe('/stc/api/status');
  });

  test('when it starts, then every command of menu, shortcut, palette and launcher is there and has a label', () => {
    const { commands, palette, launcher } = start();
    const inMenu = schema['jupyter.lab.menus'].main.flatMap(menu => menu.items.map(item => item.command));
    const wanted = [
      ...inMenu.filter(command => command !== undefined).map(command => ({ command })),
      ...schema['jupyter.lab.shortcuts'],
      ...vi.mocked(palette.addItem).mock.calls.map(([item]) => item),
      ...vi.mocked(launcher.add).mock.calls.map(([item]) => item)
    ] as { command: string; args?: Record<string, string> }[];
    expect(wanted.length).toBeGreaterThanOrEqual(9);
    for (const { command, args } of wanted) {
      expect(commands.hasCommand(command)).toBe(true);
      expect(commands.label(command, args)).not.toBe('');
    }
  });
});

describe('given an application with nothing of what the plugin may use', () => {
  test('when it starts, then the panel stands in the main area and works', async () => {
    const { shell, restored, model } = start({ plain: true });
    expect((shell.add.mock.calls[0] as unknown[])[1]).toBe('main');
    restored.resolve();
    await waitFor(() => expect(document.body.textContent).toContain(troubled().headline.slice(0, 22)));
    expect(model.connection.state).toBe('connected');
  });
});

describe('the commands', () => {
  async function started(setting: ISetting = {}) {
    const lab = start(setting);
    lab.restored.resolve();
    await waitFor(() => expect(lab.model.runs).toHaveLength(2));
    return lab;
  }

  test('given the panel, when it is opened, then it is brought to the front', async () => {
    const { commands, shell } = await started();
    await commands.execute('stc:open');
    expect(shell.activateById).toHaveBeenCalledExactlyOnceWith('stc-panel');
  });

  test('given a run, when it is opened, as from a cell’s output, then the panel shows it', async () => {
    const { commands, model, shell } = await started();
    await commands.execute('stc:open-run', { run: healthy().run.id });
    expect(model.currentId).toBe(healthy().run.id);
    expect(shell.activateById).toHaveBeenCalledExactlyOnceWith('stc-panel');
  });

  test.each([{}, { run: 7 }])('given the run %o, when it is opened, then it is the newest', async args => {
    const { commands, model } = await started();
    model.open(healthy().run.id);
    await commands.execute('stc:open-run', args);
    expect(model.currentId).toBe(troubled().run.id);
  });

  test('given a tab of its own, when it is opened twice, then there is one; closed, it can be opened again', async () => {
    const { commands, shell } = await started();
    const tabs = (): MainAreaWidget[] =>
      shell.add.mock.calls
        .map(([widget]) => widget)
        .filter(widget => widget.id === 'stc-tab') as MainAreaWidget[];
    await commands.execute('stc:open-tab');
    await commands.execute('stc:open-tab');
    expect(tabs()).toHaveLength(1);
    await waitFor(() => expect(tabs()[0].node.textContent).toContain('regressor.ipynb'));
    tabs()[0].dispose();
    await commands.execute('stc:open-tab');
    expect(tabs()).toHaveLength(2);
    expect(tabs()[1].title.closable).toBe(true);
  });

  test('given a tab that is in sight, when a run is opened, then it is shown there', async () => {
    const { commands, shell } = await started();
    await commands.execute('stc:open-tab');
    shell.activateById.mockClear();
    await commands.execute('stc:open-run', { run: healthy().run.id });
    expect(shell.activateById).toHaveBeenCalledExactlyOnceWith('stc-tab');
  });

  test.each([
    [{ tab: 'breaks' }, 'breaks'],
    [{ tab: 'nonsense' }, 'overview'],
    [{}, 'overview']
  ])('given %o, when a view is asked for, then %s is shown', async (args, tab) => {
    const { commands, model, shell } = await started();
    await commands.execute('stc:show', args);
    expect(model.tab).toBe(tab);
    expect(shell.activateById).toHaveBeenCalledExactlyOnceWith('stc-panel');
  });
});

describe('the settings', () => {
  test('given none of the user’s, then the overview first, and the status item during a run', async () => {
    const lab = start({ reports: [running()] });
    lab.restored.resolve();
    await waitFor(() => expect(isActive(lab)).toBe(true));
    expect(lab.model.tab).toBe('overview');
  });

  test('given the first tab, then that is shown', async () => {
    const { model } = start({ settings: '{ "tab": "fusion" }' });
    await waitFor(() => expect(model.tab).toBe('fusion'));
  });

  test('given no status item, then there is none; wanted again, it is there without a reload', async () => {
    const lab = start({ reports: [running()], settings: '{ "statusItem": false }' });
    lab.restored.resolve();
    await waitFor(() => expect(lab.model.runs).toHaveLength(1));
    await waitFor(() => expect(isActive(lab)).toBe(false));
    const told = vi.fn();
    lab.statusBar.registerStatusItem.mock.calls[0][1].activeStateChanged.connect(told);
    await lab.registry.set(ID, 'statusItem', true);
    await waitFor(() => expect(told).toHaveBeenCalledOnce());
    expect(isActive(lab)).toBe(true);
  });

  test('given a slower update, then the model signals no more often', async () => {
    const set = vi.spyOn(StcModel.prototype, 'interval', 'set');
    const { registry } = start({ settings: '{ "updateInterval": 2000 }' });
    await waitFor(() => expect(set).toHaveBeenLastCalledWith(2000));
    await registry.set(ID, 'updateInterval', 500);
    await waitFor(() => expect(set).toHaveBeenLastCalledWith(500));
  });

  test('given a setting with a value that there is not, then that is logged and the panel works', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue(undefined);
    vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const lab = start({ settings: '{ "tab": "nonsense" }' });
    lab.restored.resolve();
    await waitFor(() => expect(lab.model.runs).toHaveLength(2));
    expect(lab.model.tab).toBe('overview');
    expect(logged).toHaveBeenCalledWith('STC could not load its settings.', expect.anything());
  });
});
