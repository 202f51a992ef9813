/** The link to the server: versions first, one socket, growing pauses, and no alarm over a socket that comes back at once. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { ServerLink } from '../../labextension/src/connection';
import { ApiError, Change } from '../../labextension/src/request';
import { Connection, SCHEMA_VERSION } from '../../labextension/src/tokens';
import { PANEL_VERSION } from '../../labextension/src/version';
import { Server, UNREACHABLE } from './server';

let server: Server;
let link: ServerLink;
let states: Connection[];
let heard: Change[];
let opened: number;

const state = (): Connection => states[states.length - 1];
const pass = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  server = new Server();
  states = [];
  heard = [];
  opened = 0;
  link = new ServerLink(server, {
    onState: connection => states.push(connection),
    onOpen: () => opened++,
    onChange: change => heard.push(change)
  });
});

afterEach(() => {
  link.dispose();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('given a server of this version', () => {
  test('when it is reached, then the link is connected and names the store', async () => {
    await link.connect();
    await pass(0);
    expect(state()).toEqual({ state: 'connected', store: '/home/me/.local/share/stc' });
    expect(opened).toBe(1);
  });

  test('when its socket has not opened yet, then nothing is said to be connected', async () => {
    server.opens = false;
    await link.connect();
    await pass(0);
    expect(states).toEqual([]);
    expect(opened).toBe(0);
  });

  test('when it says that runs changed, then that is passed on', async () => {
    await link.connect();
    await pass(0);
    server.changed('a', 'b');
    expect(heard).toEqual([{ type: 'changed', runs: ['a', 'b'], removed: [] }]);
  });

  test('when a message is not JSON, then it is left out with a warning and the next one is heard', async () => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    await link.connect();
    await pass(0);
    server.socket.says('<html>proxy error</html>');
    server.changed('a');
    expect(warned).toHaveBeenCalledOnce();
    expect(heard).toHaveLength(1);
  });
});

describe('given a lost socket', () => {
  test('when the next try succeeds, then no trouble is ever said and what was missed is asked for', async () => {
    await link.connect();
    await pass(0);
    server.socket.breaks();
    await pass(300);
    expect(server.sockets).toHaveLength(2);
    expect(states.map(one => one.state)).toEqual(['connected', 'connected']);
    expect(opened).toBe(2);
  });

  test('when the server cannot be reached any more, then the connection is lost, with its reason', async () => {
    await link.connect();
    await pass(0);
    server.fails.set('status', UNREACHABLE);
    server.socket.breaks();
    await pass(300);
    expect(state()).toMatchObject({ state: 'disconnected', reason: 'NetworkError' });
  });

  test('when the status answers but no socket holds, then the connection is lost too', async () => {
    await link.connect();
    await pass(0);
    server.opens = false;
    server.socket.breaks();
    await pass(300);
    server.socket.breaks();
    expect(state().state).toBe('disconnected');
  });

  test('when the server stays away, then the pauses grow to half a minute and no further', async () => {
    server.fails.set('status', UNREACHABLE);
    await link.connect();
    const pauses: number[] = [];
    for (let tries = 0; tries < 9; tries++) {
      const now = state();
      const pause = now.state === 'disconnected' ? now.retryAt - Date.now() : NaN;
      pauses.push(pause);
      const before = server.times('status');
      await pass(pause - 1);
      expect(server.times('status')).toBe(before);
      await pass(1);
      expect(server.times('status')).toBe(before + 1);
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000, 30000]);
  });

  test('when the server comes back, then the link is connected again and the pauses are short again', async () => {
    server.fails.set('status', UNREACHABLE);
    await link.connect();
    await pass(1000 + 2000 + 4000);
    server.fails.delete('status');
    await pass(8000);
    expect(state().state).toBe('connected');
    server.fails.set('status', UNREACHABLE);
    server.socket.breaks();
    await pass(300);
    const now = state();
    expect(now.state === 'disconnected' && now.retryAt - Date.now()).toBeLessThanOrEqual(2000);
  });

  test('when somebody asks to try now, then the pause that was left is not waited for', async () => {
    server.fails.set('status', UNREACHABLE);
    await link.connect();
    await pass(1000);
    server.fails.delete('status');
    await link.connect();
    await pass(0);
    expect(state().state).toBe('connected');
    await pass(60000);
    expect(server.sockets).toHaveLength(1);
  });

  test('when the old socket speaks after a new one was made, then it is not heard', async () => {
    await link.connect();
    await pass(0);
    const old = server.socket;
    await link.connect();
    await pass(0);
    old.says({ type: 'changed', runs: ['stale'], removed: [] });
    old.breaks();
    await pass(1000);
    expect(old.closed).toBe(true);
    expect(heard).toEqual([]);
    expect(server.sockets).toHaveLength(2);
  });
});

describe('given a server that cannot serve this panel', () => {
  test('when it knows no such address, then the extension is missing and is not asked for again', async () => {
    server.fails.set('status', new ApiError(404, 'Not Found'));
    await link.connect();
    expect(state()).toEqual({ state: 'missing' });
    await pass(600000);
    expect(server.times('status')).toBe(1);
  });

  test.each([SCHEMA_VERSION + 1, SCHEMA_VERSION - 1])(
    'when its records have schema %d, then both versions are named and no socket is opened',
    async schema => {
      server.says = { ...server.says, version: '9.9.9', schema_version: schema };
      await link.connect();
      expect(state()).toEqual({ state: 'mismatch', server: '9.9.9', panel: PANEL_VERSION });
      expect(server.sockets).toHaveLength(0);
    }
  );

  test('when its store cannot be read, then its reason is told and the link tries again', async () => {
    server.says.store = { ...server.says.store, ok: false, reason: 'The store is of a newer version.' };
    await link.connect();
    expect(state()).toEqual({
      state: 'unusable',
      message: 'The store is of a newer version.',
      remedy: null
    });
    server.says.store = { ...server.says.store, ok: true, reason: null };
    await pass(1000);
    expect(state().state).toBe('connected');
  });

  test('when it refuses, then its sentence and remedy are told', async () => {
    server.fails.set('status', new ApiError(403, 'Forbidden', 'Log in again.'));
    await link.connect();
    expect(state()).toEqual({ state: 'unusable', message: 'Forbidden', remedy: 'Log in again.' });
  });

  test('when it fails with 500, then the connection is lost and tried again', async () => {
    server.fails.set('status', new ApiError(500, 'Something went wrong.'));
    await link.connect();
    expect(state()).toMatchObject({ state: 'disconnected', reason: 'Something went wrong.' });
    server.fails.delete('status');
    await pass(1000);
    expect(state().state).toBe('connected');
  });
});

describe('given a link that is disposed of', () => {
  test('when its answer comes afterwards, then nothing is told and no socket is opened', async () => {
    const connecting = link.connect();
    link.dispose();
    await connecting;
    await pass(60000);
    expect(link.isDisposed).toBe(true);
    expect(states).toEqual([]);
    expect(server.sockets).toHaveLength(0);
  });

  test('when it had a socket, then that is closed and not replaced', async () => {
    await link.connect();
    await pass(0);
    link.dispose();
    await pass(60000);
    expect(server.socket.closed).toBe(true);
    expect(server.sockets).toHaveLength(1);
  });
});
