/** The panel: run selector on top, tabs, and the current view. The same widget serves the side bar and the main area. */
import React from 'react';
import { Dialog, IThemeManager, ReactWidget, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { Message } from '@lumino/messaging';
import { IDisposable } from '@lumino/disposable';

import { PanelContext } from '../components/context';
import { useWidth } from '../components/width';
import { Report, Run } from '../records';
import { ApiError } from '../request';
import { INavigator, IStcModel, SCHEMA_VERSION, Tab } from '../tokens';
import { BreaksView } from './breaks';
import { FusionView } from './fusion';
import { Overview } from './overview';
import { RunSelector } from './runselector';
import { ConnectionNote, ConnectionState, NoReport, NoRuns } from './states';
import { Tabs } from './tabs';

export interface IPanelOptions {
  model: IStcModel;
  navigator: INavigator;
  trans: TranslationBundle;
  themes: IThemeManager | null;
}

export class StcPanel extends ReactWidget {
  constructor(private readonly options: IPanelOptions) {
    super();
    this.addClass('stc-Panel');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', options.trans.__('STC'));
    options.themes?.themeChanged.connect(this.update, this);
  }

  override dispose(): void {
    this.watching?.dispose();
    this.options.themes?.themeChanged.disconnect(this.update, this);
    super.dispose();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.look();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      this.look();
    }
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.watching?.dispose();
    this.watching = null;
  }

  protected override render(): JSX.Element {
    return (
      <Panel {...this.options} theme={this.options.themes?.theme ?? ''} isVisible={() => this.isVisible} />
    );
  }

  private look(): void {
    this.watching ??= this.options.model.watch();
    this.update();
  }

  private watching: IDisposable | null = null;
}

interface IPanelProps extends IPanelOptions {
  theme: string;
  isVisible: () => boolean;
}

/** Draws again when the model has changed, and not while nobody can see it. */
function useModel(model: IStcModel, isVisible: () => boolean): void {
  const [, redraw] = React.useReducer((n: number) => n + 1, 0);
  React.useEffect(() => {
    const changed = (): void => {
      if (isVisible()) {
        redraw();
      }
    };
    model.changed.connect(changed);
    return () => {
      model.changed.disconnect(changed);
    };
  }, [model, isVisible]);
}

export function Panel({ model, navigator, trans, theme, isVisible }: IPanelProps): JSX.Element {
  useModel(model, isVisible);
  const frame = React.useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const state = model.report;
  const report = state.state === 'ready' ? state.report : null;
  const context = React.useMemo(
    () => ({
      trans,
      sources: report?.sources ?? [],
      openLocation: navigator.open.bind(navigator),
      openClosed: navigator.openClosed.bind(navigator),
      canOpen: navigator.canOpen.bind(navigator)
    }),
    [trans, navigator, report]
  );
  const retry = (): void => model.reconnect();
  const { runs, connection } = model;
  let body: JSX.Element | null;
  if (runs === null) {
    body = <ConnectionState connection={connection} onRetry={retry} />;
  } else if (runs.length === 0) {
    body =
      connection.state === 'connected' || connection.state === 'connecting' ? (
        <NoRuns connection={connection} />
      ) : (
        <ConnectionState connection={connection} onRetry={retry} />
      );
  } else {
    body = (
      <>
        <RunSelector
          runs={runs}
          currentId={model.currentId}
          onOpen={id => model.open(id)}
          onRename={(id, name) =>
            model.rename(id, name).catch(reason => told(trans.__('The run keeps its name'), reason))
          }
          onDelete={run =>
            confirmDelete(model, run, trans).catch(reason => told(trans.__('The run is still there'), reason))
          }
        />
        <ConnectionNote connection={connection} onRetry={retry} />
        {report ? (
          <Views {...{ model, navigator, trans, theme, width, report }} />
        ) : (
          <NoReport state={state} onRetry={retry} />
        )}
      </>
    );
  }
  return (
    <PanelContext.Provider value={context}>
      <div ref={frame} className={`stc-Frame stc-mod-${width}`}>
        {body}
        <Announcer model={model} trans={trans} />
      </div>
    </PanelContext.Provider>
  );
}

interface IViewsProps extends IPanelOptions {
  report: Report;
  theme: string;
  width: 'narrow' | 'wide';
}

type ViewsProps = Omit<IViewsProps, 'themes'>;

function Views({ model, navigator, trans, theme, width, report }: ViewsProps): JSX.Element {
  const id = React.useId();
  const { compile } = report;
  const stops =
    compile.breaks.filter(one => !one.benign).length +
    compile.recompilations.filter(one => !one.benign).length;
  const props = {
    report,
    model,
    width,
    trans,
    selection: model.selection,
    onSelect: (change: Parameters<IStcModel['select']>[0]) => model.select(change),
    onOpenLocation: navigator.open.bind(navigator)
  };
  const show = (tab: Tab): void => model.show(tab);
  return (
    <>
      <Tabs
        id={id}
        name={trans.__('Views of the run')}
        current={model.tab}
        onShow={show}
        tabs={[
          { tab: 'overview', title: trans.__('Overview'), count: 0 },
          { tab: 'fusion', title: trans.__('Fusion'), count: 0 },
          {
            tab: 'breaks',
            title: width === 'narrow' ? trans.__('Breaks') : trans.__('Breaks & recompilations'),
            count: stops
          }
        ]}
      />
      {report.schema_version > SCHEMA_VERSION && (
        <p className="stc-Note stc-mod-warning">
          {trans.__('This run was recorded by a newer version; what this panel does not know is left out.')}
        </p>
      )}
      <div
        id={`${id}-view`}
        className="stc-View"
        role="tabpanel"
        aria-labelledby={`${id}-${model.tab}`}
        key={report.run.id}
      >
        {model.tab === 'overview' && <Overview {...props} theme={theme} onTab={show} />}
        {model.tab === 'fusion' && <FusionView {...props} />}
        {model.tab === 'breaks' && <BreaksView {...props} />}
      </div>
    </>
  );
}

/** Tells a screen reader when a run has ended; not each step. */
function Announcer({ model, trans }: { model: IStcModel; trans: TranslationBundle }): JSX.Element {
  const [words, setWords] = React.useState('');
  React.useEffect(() => {
    const ended = (_: IStcModel, summary: { run: Run; headline: string }): void =>
      setWords(trans.__('%1 has ended. %2', summary.run.name, summary.headline));
    model.ended.connect(ended);
    return () => {
      model.ended.disconnect(ended);
    };
  }, [model, trans]);
  return (
    <div className="stc-Hidden" role="status" aria-live="polite">
      {words}
    </div>
  );
}

/** Why the server did not do what was asked of it. */
function told(title: string, reason: unknown): Promise<void> {
  const message = reason instanceof Error ? reason.message : String(reason);
  const remedy = reason instanceof ApiError ? reason.remedy : null;
  return showErrorMessage(title, remedy === null ? message : `${message} ${remedy}`);
}

async function confirmDelete(model: IStcModel, run: Run, trans: TranslationBundle): Promise<void> {
  const answer = await showDialog({
    title: trans.__('Delete this run?'),
    body: trans.__('%1, with its report and generated code. This cannot be undone.', run.name),
    buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: trans.__('Delete') })]
  });
  if (answer.button.accept) {
    await model.delete(run.id);
  }
}
