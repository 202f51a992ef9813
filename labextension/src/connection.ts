/**
 * Keeps one websocket to the server open: checks the versions first, and tries again with growing pauses.
 *
 * A proxy that drops an idle socket is not news: only when the next try fails, too, is the connection said to be lost.
 */
import { IDisposable } from '@lumino/disposable';

import { ApiError, Change, IApi, IServerStatus } from './request';
import { Connection, SCHEMA_VERSION } from './tokens';
import { PANEL_VERSION } from './version';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30000;

export interface IListener {
  /** The state has changed. */
  onState(connection: Connection): void;
  /** The socket is open; what was missed before has to be asked for. */
  onOpen(): void;
  onChange(change: Change): void;
}

export class ServerLink implements IDisposable {
  constructor(
    private readonly api: IApi,
    private readonly listener: IListener
  ) {}

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    this.disposed = true;
    window.clearTimeout(this.timer);
    this.drop();
  }

  /** Connect now, whatever pause was left. */
  async connect(): Promise<void> {
    window.clearTimeout(this.timer);
    this.drop();
    const attempt = ++this.attempt;
    let status: IServerStatus;
    try {
      status = await this.api.status();
    } catch (error) {
      if (!this.disposed && attempt === this.attempt) {
        this.failed(error);
      }
      return;
    }
    if (this.disposed || attempt !== this.attempt) {
      return;
    }
    if (status.schema_version !== SCHEMA_VERSION) {
      this.listener.onState({ state: 'mismatch', server: status.version, panel: PANEL_VERSION });
      return;
    }
    if (!status.store.ok) {
      this.listener.onState({
        state: 'unusable',
        message: status.store.reason ?? 'The store cannot be read.',
        remedy: null
      });
      this.again();
      return;
    }
    this.listen(status.store.path);
  }

  private listen(store: string): void {
    const socket = this.api.listen();
    this.socket = socket;
    socket.onopen = () => {
      if (socket === this.socket) {
        this.pause = FIRST_PAUSE_MS;
        this.listener.onState({ state: 'connected', store });
        this.listener.onOpen();
      }
    };
    socket.onmessage = event => {
      if (socket !== this.socket) {
        return;
      }
      try {
        this.listener.onChange(JSON.parse(String(event.data)) as Change);
      } catch {
        console.warn('STC: a message from the server was not JSON and is left out.');
      }
    };
    socket.onclose = () => {
      if (socket === this.socket && !this.disposed) {
        this.socket = null;
        if (this.pause === FIRST_PAUSE_MS) {
          this.pause *= 2;
          this.timer = window.setTimeout(() => void this.connect(), FIRST_PAUSE_MS / 4);
        } else {
          this.lost('');
        }
      }
    };
  }

  private failed(error: unknown): void {
    const status = error instanceof ApiError ? error.status : 0;
    const message = error instanceof Error ? error.message : String(error);
    if (status === 404) {
      this.listener.onState({ state: 'missing' });
    } else if (status >= 400 && status < 500) {
      const remedy = error instanceof ApiError ? error.remedy : null;
      this.listener.onState({ state: 'unusable', message, remedy });
      this.again();
    } else {
      this.lost(message);
    }
  }

  private lost(reason: string): void {
    const pause = this.again();
    this.listener.onState({ state: 'disconnected', reason, retryAt: Date.now() + pause });
  }

  private again(): number {
    // A little chance, so that many windows do not come back at the same moment.
    const pause = this.pause * (0.8 + 0.4 * Math.random());
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
    this.timer = window.setTimeout(() => void this.connect(), pause);
    return pause;
  }

  private drop(): void {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  private disposed = false;
  private attempt = 0;
  private pause = FIRST_PAUSE_MS;
  private timer = 0;
  private socket: WebSocket | null = null;
}
