/**
 * The contract between the parts of the panel: what the model offers, what a view is given, and the plugin's tokens.
 *
 * Views never make requests; they read the report and ask the model for artefacts.
 */
import { Token } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { ISignal } from '@lumino/signaling';
import { TranslationBundle } from '@jupyterlab/translation';

import { Location, Report, RunSummary } from './records';

/** The records' schema this panel was written for. A newer report is shown as far as it is understood, and says so. */
export const SCHEMA_VERSION = 1;

/** Where the panel stands with the server. */
export type Connection =
  | { state: 'connecting' }
  /** Reads the store in this folder of the server's machine. */
  | { state: 'connected'; store: string | null }
  | { state: 'disconnected'; reason: string; retryAt: number }
  | { state: 'missing' }
  | { state: 'mismatch'; server: string; panel: string }
  | { state: 'unusable'; message: string; remedy: string | null };

/** How far the current run's report has come. */
export type ReportState =
  | { state: 'none' }
  | { state: 'loading'; id: string }
  | { state: 'ready'; report: Report }
  | { state: 'failed'; id: string; message: string; remedy: string | null };

export type Tab = 'overview' | 'fusion' | 'breaks';

export const TABS: readonly Tab[] = ['overview', 'fusion', 'breaks'];

/** A line of the user's code, as `Location.file` and `Location.line` name it. */
export interface ILine {
  file: string;
  line: number;
}

/** What is picked out in the current run. It is shared by all views and survives live updates and changes of tab. */
export interface ISelection {
  /** `Graph.id` */
  graph: string | null;
  /** `Kernel.id` */
  kernel: string | null;
  /** A line of the user's code. */
  line: ILine | null;
  /** `Break.id` or `Recompilation.id` */
  event: string | null;
}

export const NOTHING: ISelection = { graph: null, kernel: null, line: null, event: null };

/** Runs, the current run's report and the connection, with one signal for all of them. */
export interface IStcModel extends IDisposable {
  readonly connection: Connection;
  /** Live runs first, then newest first; null until the first list has come. */
  readonly runs: readonly RunSummary[] | null;
  readonly currentId: string | null;
  readonly report: ReportState;
  readonly tab: Tab;
  readonly selection: ISelection;

  /** Something of the above has changed. Emitted at most as often as the settings allow, four times a second by default. */
  readonly changed: ISignal<IStcModel, void>;

  /** A run that was live has ended. */
  readonly ended: ISignal<IStcModel, RunSummary>;

  /** Make a run the current one; null follows the newest. */
  open(runId: string | null): void;
  show(tab: Tab): void;
  select(change: Partial<ISelection>): void;

  rename(runId: string, name: string): Promise<void>;
  delete(runId: string): Promise<void>;

  /** A text artefact, such as generated code. Finished artefacts are kept, so asking twice is free. */
  artefact(runId: string, name: string): Promise<string>;

  /** Try again now, where the connection is broken. */
  reconnect(): void;

  /** Somebody looks at the report until the returned object is disposed of; with nobody looking only the run list is kept. */
  watch(): IDisposable;
}

/** What became of a wish to see a place in the user's code. */
export type OpenOutcome =
  | 'shown'
  /** The notebook or file is not open here, or not known. */
  | 'not-open'
  /** The notebook is open, but the cell is not in it any more. */
  | 'cell-gone'
  /** The cell or file is open, but that line is not in it any more. */
  | 'line-gone';

/** Shows places of the user's code in notebooks and editors. */
export interface INavigator {
  /** Go to the place where that is possible without opening a notebook that the user has closed. */
  open(location: Location): Promise<OpenOutcome>;
  /** Open the notebook or file first, then go there. */
  openClosed(location: Location): Promise<OpenOutcome>;
  /** Whether `openClosed` knows what to open. */
  canOpen(location: Location): boolean;
}

/** What every view of the panel is given. */
export interface IViewProps {
  report: Report;
  model: IStcModel;
  /** Below or above 700 px. */
  width: 'narrow' | 'wide';
  trans: TranslationBundle;
  selection: ISelection;
  onSelect: (change: Partial<ISelection>) => void;
  onOpenLocation: (location: Location) => Promise<OpenOutcome>;
}

export const IStcModel = new Token<IStcModel>(
  'jupyterlab-stc:IStcModel',
  'Runs and reports of the training compiler.'
);
