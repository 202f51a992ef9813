/** The plugin: one model, the panel in the right side bar and in the main area, commands, status item, settings. */
import { ILabShell, ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, IThemeManager, MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { stcIcon } from './icon';
import { StcModel } from './model';
import { Navigator } from './navigate';
import { StcPanel } from './panel/panel';
import { Api } from './request';
import { statusItem } from './status';
import { IStcModel, Tab, TABS } from './tokens';

const ID = 'jupyterlab-stc:plugin';
const SIDE_ID = 'stc-panel';
const TAB_ID = 'stc-tab';

const CommandIDs = {
  open: 'stc:open',
  openTab: 'stc:open-tab',
  openRun: 'stc:open-run',
  showTab: 'stc:show'
} as const;

const plugin: JupyterFrontEndPlugin<IStcModel> = {
  id: ID,
  description: 'Shows what the training compiler did.',
  autoStart: true,
  provides: IStcModel,
  optional: [
    ILabShell,
    ILayoutRestorer,
    ICommandPalette,
    ILauncher,
    ISettingRegistry,
    IStatusBar,
    IThemeManager,
    ITranslator,
    INotebookTracker,
    IEditorTracker,
    IDocumentManager
  ],
  activate
};

function activate(
  app: JupyterFrontEnd,
  labShell: ILabShell | null,
  restorer: ILayoutRestorer | null,
  palette: ICommandPalette | null,
  launcher: ILauncher | null,
  registry: ISettingRegistry | null,
  statusBar: IStatusBar | null,
  themes: IThemeManager | null,
  translator: ITranslator | null,
  notebooks: INotebookTracker | null,
  editors: IEditorTracker | null,
  documents: IDocumentManager | null
): IStcModel {
  const trans = (translator ?? nullTranslator).load('jupyterlab_stc');
  const { commands, shell } = app;
  const model = new StcModel(new Api(app.serviceManager.serverSettings));
  const navigator = new Navigator({
    shell,
    notebooks,
    editors,
    documents,
    root: PageConfig.getOption('serverRoot')
  });
  const make = (): StcPanel => new StcPanel({ model, navigator, trans, themes });

  const side = make();
  side.id = SIDE_ID;
  side.title.icon = stcIcon;
  side.title.caption = trans.__('STC: training compiler');
  shell.add(side, labShell ? 'right' : 'main', { rank: 520, type: 'STC' });
  restorer?.add(side, SIDE_ID);

  const tracker = new WidgetTracker<MainAreaWidget<StcPanel>>({ namespace: TAB_ID });
  commands.addCommand(CommandIDs.open, {
    label: trans.__('Open the STC panel'),
    caption: trans.__('What the training compiler did, and why'),
    icon: stcIcon,
    execute: () => shell.activateById(side.id)
  });
  commands.addCommand(CommandIDs.openTab, {
    label: args => (args['isLauncher'] ? 'STC' : trans.__('Open STC in a tab')),
    caption: trans.__('The STC panel at full width'),
    icon: stcIcon,
    execute: async () => {
      let tab = tracker.find(() => true);
      if (!tab || tab.isDisposed) {
        tab = new MainAreaWidget({ content: make() });
        tab.id = TAB_ID;
        tab.title.label = 'STC';
        tab.title.icon = stcIcon;
        tab.title.closable = true;
        await tracker.add(tab);
      }
      if (!tab.isAttached) {
        shell.add(tab, 'main');
      }
      shell.activateById(tab.id);
    }
  });
  commands.addCommand(CommandIDs.openRun, {
    label: trans.__('Open a run in the STC panel'),
    execute: args => {
      const run = args['run'];
      model.open(typeof run === 'string' ? run : null);
      const tab = tracker.find(() => true);
      shell.activateById(tab?.isVisible ? tab.id : side.id);
    }
  });
  commands.addCommand(CommandIDs.showTab, {
    label: args => trans.__('STC: show %1', String(args['tab'] ?? 'overview')),
    execute: args => {
      const tab = args['tab'];
      if (isTab(tab)) {
        model.show(tab);
      }
      shell.activateById(side.id);
    }
  });
  void restorer?.restore(tracker, { command: CommandIDs.openTab, name: () => TAB_ID });

  const category = trans.__('STC');
  palette?.addItem({ command: CommandIDs.open, category });
  palette?.addItem({ command: CommandIDs.openTab, category });
  for (const tab of TABS) {
    palette?.addItem({ command: CommandIDs.showTab, category, args: { tab } });
  }
  launcher?.add({
    command: CommandIDs.openTab,
    category: trans.__('Other'),
    rank: 10,
    args: { isLauncher: true }
  });

  const item = statusItem(model, trans, () => void commands.execute(CommandIDs.open));
  statusBar?.registerStatusItem(ID, {
    item,
    align: 'right',
    rank: 60,
    isActive: () => item.isWanted,
    activeStateChanged: item.wantedChanged
  });

  void registry
    ?.load(ID)
    .then(settings => {
      const apply = (): void => {
        model.interval = settings.get('updateInterval').composite as number;
        item.isEnabled = settings.get('statusItem').composite as boolean;
      };
      const first = settings.get('tab').composite;
      if (isTab(first)) {
        model.show(first);
      }
      settings.changed.connect(apply);
      apply();
    })
    .catch(reason => console.error('STC could not load its settings.', reason));

  // The first request waits until JupyterLab is there: the panel is not what people wait for.
  void app.restored.then(() => model.start());
  return model;
}

const isTab = (value: unknown): value is Tab => TABS.some(tab => tab === value);

export default plugin;
