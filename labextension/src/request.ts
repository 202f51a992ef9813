/** The server extension's REST interface and websocket address. The only file that makes requests. */
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { Report, RunSummary } from './records';

export interface IServerStatus {
  version: string;
  schema_version: number;
  store: { path: string; mode: string | null; ok: boolean; reason: string | null };
}

/** What the websocket says. */
export type Change =
  { type: 'hello'; version: string } | { type: 'changed'; runs: string[]; removed: string[] };

/** A request that the server refused, or that did not reach it (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly remedy: string | null = null
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** What the model needs of the server. */
export interface IApi {
  status(): Promise<IServerStatus>;
  runs(): Promise<RunSummary[]>;
  report(runId: string): Promise<Report>;
  rename(runId: string, name: string): Promise<RunSummary>;
  delete(runId: string): Promise<void>;
  artefact(runId: string, name: string): Promise<string>;
  listen(): WebSocket;
}

export class Api implements IApi {
  constructor(private readonly settings: ServerConnection.ISettings) {}

  status(): Promise<IServerStatus> {
    return this.json('status');
  }

  async runs(): Promise<RunSummary[]> {
    return (await this.json<{ runs: RunSummary[] }>('runs')).runs;
  }

  report(runId: string): Promise<Report> {
    return this.json(`runs/${encodeURIComponent(runId)}`);
  }

  rename(runId: string, name: string): Promise<RunSummary> {
    return this.json(`runs/${encodeURIComponent(runId)}`, {
      method: 'PATCH',
      body: JSON.stringify({ name })
    });
  }

  async delete(runId: string): Promise<void> {
    await this.answer(`runs/${encodeURIComponent(runId)}`, { method: 'DELETE' });
  }

  async artefact(runId: string, name: string): Promise<string> {
    const path = `runs/${encodeURIComponent(runId)}/artefacts/${encodeURIComponent(name)}`;
    return (await this.answer(path)).text();
  }

  listen(): WebSocket {
    const { wsUrl, appendToken, token, WebSocket } = this.settings;
    const address = URLExt.join(wsUrl || PageConfig.getWsUrl(), 'stc/api/changes');
    return new WebSocket(appendToken && token ? `${address}?token=${encodeURIComponent(token)}` : address);
  }

  private async json<T>(path: string, init: RequestInit = {}): Promise<T> {
    const response = await this.answer(path, init);
    try {
      return (await response.json()) as T;
    } catch {
      throw new ApiError(response.status, `The server's answer to ${path} is not JSON.`);
    }
  }

  private async answer(path: string, init: RequestInit = {}): Promise<Response> {
    const address = URLExt.join(this.settings.baseUrl, 'stc/api', path);
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(address, init, this.settings);
    } catch (error) {
      throw new ApiError(0, error instanceof Error ? error.message : String(error));
    }
    if (!response.ok) {
      const said = (await response.json().catch(() => null)) as {
        message?: string;
        remedy?: string | null;
      } | null;
      throw new ApiError(response.status, said?.message || response.statusText, said?.remedy ?? null);
    }
    return response;
  }
}
