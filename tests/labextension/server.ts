/** A server in memory: what `Api` asks of the real one, with a socket that the test opens, closes and speaks through. */
import { Report, RunSummary } from '../../labextension/src/records';
import { ApiError, IApi, IServerStatus } from '../../labextension/src/request';
import { SCHEMA_VERSION } from '../../labextension/src/tokens';
import { PANEL_VERSION } from '../../labextension/src/version';
import { summaryOf } from './reports';

export class Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  closed = false;

  /** The panel hangs up. */
  close(): void {
    this.closed = true;
    this.onclose?.();
  }

  opens(): void {
    this.onopen?.();
  }
  says(message: unknown): void {
    this.onmessage?.({ data: typeof message === 'string' ? message : JSON.stringify(message) });
  }
  /** The connection is lost. */
  breaks(): void {
    this.onclose?.();
  }
}

export class Server implements IApi {
  constructor(...reports: Report[]) {
    this.reports = new Map(reports.map(report => [report.run.id, report]));
  }

  readonly reports: Map<string, Report>;
  readonly artefacts = new Map<string, string>();
  readonly sockets: Socket[] = [];
  /** What was asked, in its order: "runs", "report ID", ... */
  readonly asked: string[] = [];
  /** Whether a socket opens by itself. */
  opens = true;
  /** Thrown in place of an answer, by the kind of the request. */
  readonly fails = new Map<string, unknown>();
  says: IServerStatus = {
    version: PANEL_VERSION,
    schema_version: SCHEMA_VERSION,
    store: { path: '/home/me/.local/share/stc', mode: 'wal', ok: true, reason: null }
  };

  get socket(): Socket {
    return this.sockets[this.sockets.length - 1];
  }
  /** How often something was asked. */
  times(request: string): number {
    return this.asked.filter(one => one === request).length;
  }
  changed(...runs: string[]): void {
    this.socket.says({ type: 'changed', runs, removed: [] });
  }

  async status(): Promise<IServerStatus> {
    this.hear('status');
    return structuredClone(this.says);
  }
  async runs(): Promise<RunSummary[]> {
    this.hear('runs');
    return [...this.reports.values()].map(report => structuredClone(summaryOf(report)));
  }
  async report(runId: string): Promise<Report> {
    this.hear('report', runId);
    return structuredClone(this.of(runId));
  }
  async rename(runId: string, name: string): Promise<RunSummary> {
    this.hear('rename', runId, name);
    const report = this.of(runId);
    report.run = { ...report.run, name };
    return structuredClone(summaryOf(report));
  }
  async delete(runId: string): Promise<void> {
    this.hear('delete', runId);
    this.of(runId);
    this.reports.delete(runId);
  }
  async artefact(runId: string, name: string): Promise<string> {
    this.hear('artefact', runId, name);
    const text = this.artefacts.get(name);
    if (text === undefined) {
      throw new ApiError(404, 'There is no such artefact.');
    }
    return text;
  }
  listen(): WebSocket {
    this.hear('listen');
    const socket = new Socket();
    this.sockets.push(socket);
    if (this.opens) {
      queueMicrotask(() => socket.opens());
    }
    return socket as unknown as WebSocket;
  }

  private hear(kind: string, ...rest: string[]): void {
    this.asked.push([kind, ...rest].join(' '));
    if (this.fails.has(kind)) {
      throw this.fails.get(kind);
    }
  }
  private of(runId: string): Report {
    const report = this.reports.get(runId);
    if (!report) {
      throw new ApiError(404, `There is no run ${runId}.`);
    }
    return report;
  }
}

/** The server cannot be reached. */
export const UNREACHABLE = new ApiError(0, 'NetworkError');
