/**
 * The panel's state: the run list, the current run's report and what is picked out in it, kept current by the server's messages.
 *
 * It asks for a report only while somebody looks, has one request of a kind under way at most, and signals at most so often.
 */
import { DisposableDelegate, IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { ServerLink } from './connection';
import { Report, RunSummary } from './records';
import { ApiError, Change, IApi } from './request';
import { Connection, ISelection, IStcModel, NOTHING, ReportState, Tab } from './tokens';

/** The list carries every run's environment: while runs only go on, once a second is enough. */
const LIST_PAUSE_MS = 1000;

export class StcModel implements IStcModel {
  constructor(private readonly api: IApi) {
    this.link = new ServerLink(api, {
      onState: connection => {
        this._connection = connection;
        this.soon();
      },
      onOpen: () => {
        // What changed while nobody was told is not known.
        this.stale = true;
        this.artefacts.clear();
        this.list.ask(0);
        this.asked.ask(0);
      },
      onChange: change => this.heard(change)
    });
    this.list = new Repeater(() => this.loadRuns());
    this.asked = new Repeater(() => this.loadReport());
  }

  /** Begin to talk to the server. */
  start(): void {
    void this.link.connect();
  }

  get connection(): Connection {
    return this._connection;
  }
  get runs(): readonly RunSummary[] | null {
    return this._runs;
  }
  get currentId(): string | null {
    return this._currentId;
  }
  get report(): ReportState {
    return this._report;
  }
  get tab(): Tab {
    return this._tab;
  }
  get selection(): ISelection {
    return this._selection;
  }
  get changed(): ISignal<this, void> {
    return this._changed;
  }
  get ended(): ISignal<this, RunSummary> {
    return this._ended;
  }
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Least time between two signals, in milliseconds. */
  set interval(milliseconds: number) {
    this._interval = milliseconds;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    window.clearTimeout(this.timer);
    this.link.dispose();
    this.list.dispose();
    this.asked.dispose();
    Signal.clearData(this);
  }

  open(runId: string | null): void {
    const newest = this._runs?.[0]?.run.id ?? null;
    this.following = runId === null || runId === newest;
    this.become(runId ?? newest);
    this.now();
  }

  show(tab: Tab): void {
    this._tab = tab;
    this.now();
  }

  select(change: Partial<ISelection>): void {
    this._selection = { ...this._selection, ...change };
    this.now();
  }

  async rename(runId: string, name: string): Promise<void> {
    const summary = await this.api.rename(runId, name);
    this._runs = this._runs?.map(one => (one.run.id === runId ? summary : one)) ?? null;
    if (this._report.state === 'ready' && this._report.report.run.id === runId) {
      this._report = { state: 'ready', report: { ...this._report.report, run: summary.run } };
    }
    this.now();
  }

  async delete(runId: string): Promise<void> {
    await this.api.delete(runId);
    this.forget([runId]);
    this.now();
  }

  artefact(runId: string, name: string): Promise<string> {
    const kept = this.artefacts.get(runId) ?? new Map<string, Promise<string>>();
    this.artefacts.set(runId, kept);
    const present = kept.get(name);
    if (present) {
      return present;
    }
    const text = this.api.artefact(runId, name);
    kept.set(name, text);
    text.catch(() => kept.delete(name));
    return text;
  }

  reconnect(): void {
    this._connection = { state: 'connecting' };
    this.now();
    void this.link.connect();
  }

  watch(): IDisposable {
    this.watchers++;
    if (this.watchers === 1 && this.stale) {
      this.asked.ask(0);
    }
    return new DisposableDelegate(() => {
      this.watchers--;
    });
  }

  private heard(change: Change): void {
    if (change.type !== 'changed') {
      return;
    }
    this.forget(change.removed);
    const known = new Set(this._runs?.map(summary => summary.run.id));
    for (const id of change.runs) {
      this.artefacts.delete(id);
    }
    if (change.runs.length > 0) {
      this.list.ask(change.runs.every(id => known.has(id)) ? LIST_PAUSE_MS : 0);
    }
    if (this._currentId !== null && change.runs.includes(this._currentId)) {
      this.stale = true;
      this.asked.ask(this._interval);
    }
    this.soon();
  }

  private async loadRuns(): Promise<void> {
    let runs: RunSummary[];
    try {
      runs = await this.api.runs();
    } catch (error) {
      this.complain(error);
      return;
    }
    if (this._connection.state === 'unusable') {
      this._connection = { state: 'connected', store: null };
    }
    const live = new Set(this._runs?.filter(isLive).map(summary => summary.run.id));
    const present = new Set(runs.map(summary => summary.run.id));
    const gone = (this._runs ?? []).map(summary => summary.run.id).filter(id => !present.has(id));
    this._runs = inOrder(runs);
    this.forget(gone);
    this.follow();
    for (const summary of this._runs) {
      if (live.has(summary.run.id) && !isLive(summary)) {
        this._ended.emit(summary);
      }
    }
    this.soon();
  }

  private async loadReport(): Promise<void> {
    const id = this._currentId;
    if (id === null || this.watchers === 0 || !this.stale) {
      return;
    }
    this.stale = false;
    try {
      const report = await this.api.report(id);
      if (id === this._currentId) {
        this.arrived(report);
      }
    } catch (error) {
      this.stale = true;
      // What is shown already stays; the connection says what is wrong.
      if (id === this._currentId && this._report.state !== 'ready') {
        const { message, remedy } = words(error);
        this._report = { state: 'failed', id, message, remedy };
      }
    }
    this.soon();
  }

  private arrived(report: Report): void {
    this._report = { state: 'ready', report };
    // The report is newer than the list, which then finds that nothing has ended.
    const old = this._runs?.find(one => one.run.id === report.run.id);
    if (!old) {
      return;
    }
    const summary = { ...old, run: report.run, headline: report.headline };
    this._runs = this._runs?.map(one => (one === old ? summary : one)) ?? null;
    if (isLive(old) && !isLive(summary)) {
      this._ended.emit(summary);
    }
  }

  private complain(error: unknown): void {
    if (error instanceof ApiError && error.status >= 400) {
      this._connection = { state: 'unusable', ...words(error) };
      this.soon();
    }
  }

  private forget(runIds: readonly string[]): void {
    if (runIds.length === 0) {
      return;
    }
    this._runs = this._runs?.filter(summary => !runIds.includes(summary.run.id)) ?? null;
    runIds.forEach(id => this.artefacts.delete(id));
    if (this._currentId !== null && runIds.includes(this._currentId)) {
      this.following = true;
      this.become(null);
    }
    this.follow();
  }

  private follow(): void {
    if (this.following) {
      this.become(this._runs?.[0]?.run.id ?? null);
    }
  }

  private become(id: string | null): void {
    if (id === this._currentId) {
      return;
    }
    this._currentId = id;
    this._selection = NOTHING;
    this._report = id === null ? { state: 'none' } : { state: 'loading', id };
    this.stale = true;
    this.asked.ask(0);
  }

  /** Signal at once: somebody has pressed something. */
  private now(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.signalledAt = Date.now();
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  /** Signal as soon as the interval allows. */
  private soon(): void {
    if (this.timer === 0 && !this._isDisposed) {
      const wait = Math.max(0, this.signalledAt + this._interval - Date.now());
      this.timer = window.setTimeout(() => this.now(), wait);
    }
  }

  private readonly link: ServerLink;
  private readonly list: Repeater;
  private readonly asked: Repeater;
  private readonly artefacts = new Map<string, Map<string, Promise<string>>>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _ended = new Signal<this, RunSummary>(this);
  private _connection: Connection = { state: 'connecting' };
  private _runs: readonly RunSummary[] | null = null;
  private _currentId: string | null = null;
  private _report: ReportState = { state: 'none' };
  private _tab: Tab = 'overview';
  private _selection: ISelection = NOTHING;
  private _isDisposed = false;
  private _interval = 250;
  private following = true;
  private stale = false;
  private watchers = 0;
  private signalledAt = 0;
  private timer = 0;
}

/** Runs a task on request: never twice at once, and after a pause that is no shorter than the task took the last time. */
class Repeater implements IDisposable {
  constructor(private readonly task: () => Promise<void>) {}

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    this.disposed = true;
    window.clearTimeout(this.timer);
  }

  /** Run within `pause` milliseconds after the last time; 0 is at once, or as soon as the one under way has ended. */
  ask(pause: number): void {
    if (this.disposed) {
      return;
    }
    if (this.running) {
      this.again = this.again === null ? pause : Math.min(this.again, pause);
      return;
    }
    const due = pause === 0 ? 0 : Math.max(0, this.endedAt + Math.max(pause, this.took) - Date.now());
    if (this.timer !== 0) {
      if (due > 0) {
        return;
      }
      window.clearTimeout(this.timer);
    }
    this.timer = window.setTimeout(() => void this.run(), due);
  }

  private async run(): Promise<void> {
    this.timer = 0;
    this.running = true;
    const began = Date.now();
    await this.task();
    this.running = false;
    this.endedAt = Date.now();
    this.took = this.endedAt - began;
    if (this.again !== null) {
      const pause = this.again;
      this.again = null;
      this.ask(pause);
    }
  }

  private disposed = false;
  private running = false;
  private again: number | null = null;
  private timer = 0;
  private endedAt = 0;
  private took = 0;
}

export const isLive = (summary: RunSummary): boolean => summary.run.status === 'running';

/** Live runs first, then the newest first. */
function inOrder(runs: readonly RunSummary[]): RunSummary[] {
  return [...runs].sort(
    (a, b) =>
      Number(isLive(b)) - Number(isLive(a)) ||
      b.run.started_at - a.run.started_at ||
      compare(b.run.id, a.run.id)
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function words(error: unknown): { message: string; remedy: string | null } {
  return {
    message: error instanceof Error ? error.message : String(error),
    remedy: error instanceof ApiError ? error.remedy : null
  };
}
