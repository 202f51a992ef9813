/** The panel's state while runs go on and the server comes and goes: how often what is asked, and what is told. */
import { describe, expect, test, vi } from 'vitest';

import { RunSummary } from '../../labextension/src/records';
import { ApiError } from '../../labextension/src/request';
import {
  heard,
  HEALTHY,
  ids,
  model,
  modelOver,
  pass,
  RUNNING,
  server,
  shown,
  start,
  TROUBLED
} from './modelparts';
import { another, healthy, running, troubled } from './reports';
import { Server, UNREACHABLE } from './server';

describe('given a live run', () => {
  test('when it changes, then report and list follow, and what is picked out stays', async () => {
    await start(running());
    model.watch();
    await pass(300);
    model.select({ kernel: '0/0:forward#2' });
    server.reports.set(RUNNING, { ...running(), headline: 'Compiling graph 3.' });
    server.changed(RUNNING);
    await pass(1500);
    expect(shown().headline).toBe('Compiling graph 3.');
    expect(model.runs?.[0].headline).toBe('Compiling graph 3.');
    expect(model.selection.kernel).toBe('0/0:forward#2');
  });

  test('when it changes forty times a second, then views hear of it four times a second at most', async () => {
    await start(running());
    model.watch();
    await pass(1000);
    heard.signals = 0;
    server.asked.length = 0;
    for (let at = 0; at < 80; at++) {
      server.changed(RUNNING);
      await pass(25);
    }
    expect(heard.signals).toBeGreaterThanOrEqual(6);
    expect(heard.signals).toBeLessThanOrEqual(9);
    expect(server.times(`report ${RUNNING}`)).toBeLessThanOrEqual(9);
    expect(server.times('runs')).toBeLessThanOrEqual(4);
  });

  test('when the interval is set to a second, then they hear of it once a second', async () => {
    await start(running());
    model.interval = 1000;
    await pass(2000);
    heard.signals = 0;
    for (let at = 0; at < 80; at++) {
      server.changed(RUNNING);
      await pass(50);
    }
    expect(heard.signals).toBeGreaterThanOrEqual(3);
    expect(heard.signals).toBeLessThanOrEqual(5);
  });

  test('when the last change comes in a burst, then it is shown all the same', async () => {
    await start(running());
    model.watch();
    await pass(1000);
    server.changed(RUNNING);
    await pass(10);
    server.reports.set(RUNNING, { ...running(), headline: 'The last word.' });
    server.changed(RUNNING);
    await pass(2000);
    expect(shown().headline).toBe('The last word.');
  });

  test('when the server is slow, then no second request of a kind is sent before the first is answered', async () => {
    await start(running());
    let underWay = 0;
    let most = 0;
    vi.spyOn(server, 'report').mockImplementation(async () => {
      most = Math.max(most, ++underWay);
      await new Promise(resolve => setTimeout(resolve, 2000));
      underWay--;
      return running();
    });
    model.watch();
    for (let at = 0; at < 40; at++) {
      server.changed(RUNNING);
      await pass(250);
    }
    expect(most).toBe(1);
  });

  test('when it ends, then that is told once', async () => {
    await start(running());
    const ended: RunSummary[] = [];
    model.ended.connect((_, summary) => void ended.push(summary));
    const done = another(healthy(), RUNNING);
    server.reports.set(RUNNING, done);
    server.changed(RUNNING);
    await pass(1500);
    server.changed(RUNNING);
    await pass(1500);
    expect(ended.map(summary => summary.headline)).toEqual([done.headline]);
  });

  test('when its report comes before the list and says that it ended, then that is told as well', async () => {
    await start(running());
    model.watch();
    await pass(1000);
    server.changed(RUNNING);
    await pass(300);
    const ended: string[] = [];
    model.ended.connect((_, summary) => void ended.push(summary.headline));
    server.reports.set(RUNNING, another(healthy(), RUNNING));
    server.changed(RUNNING);
    await pass(500);
    expect(shown().run.status).toBe('completed');
    expect(server.times('runs')).toBe(2);
    expect(model.runs?.[0]).toMatchObject({ run: { status: 'completed' }, headline: healthy().headline });
    await pass(3000);
    expect(ended).toEqual([healthy().headline]);
  });
});

describe('given trouble with the server', () => {
  test('when the socket is lost and comes back, then what was missed is asked for', async () => {
    await start(running());
    model.watch();
    await pass(300);
    server.socket.breaks();
    server.reports.set(RUNNING, another(healthy(), RUNNING));
    server.reports.set('new', another(healthy(), 'new', { started_at: 1764590000 }));
    await pass(1000);
    expect(model.connection.state).toBe('connected');
    expect(ids()).toEqual(['new', RUNNING]);
    expect(model.currentId).toBe('new');
  });

  test('when the open run was deleted meanwhile, then the newest of the rest is shown', async () => {
    await start(healthy(), troubled());
    model.watch();
    model.open(HEALTHY);
    await pass(300);
    server.socket.breaks();
    server.reports.delete(HEALTHY);
    await pass(1000);
    expect(model.currentId).toBe(TROUBLED);
    expect(shown().run.id).toBe(TROUBLED);
  });

  test('when a run is opened that the server does not have, then its answer is shown and not another run', async () => {
    await start(healthy());
    model.watch();
    model.open('gone');
    await pass(300);
    server.changed(HEALTHY);
    await pass(2000);
    expect(model.report).toMatchObject({ state: 'failed', id: 'gone', message: 'There is no run gone.' });
  });

  test('when the server goes away, then what is shown stays and the connection says so', async () => {
    await start(healthy());
    model.watch();
    await pass(300);
    for (const request of ['status', 'runs', 'report']) {
      server.fails.set(request, UNREACHABLE);
    }
    server.socket.breaks();
    await pass(1000);
    expect(model.connection.state).toBe('disconnected');
    expect(shown().run.id).toBe(HEALTHY);
    expect(ids()).toEqual([HEALTHY]);
  });

  test('when it comes back after a while, then the report of a live run is brought up to date', async () => {
    await start(running());
    model.watch();
    await pass(300);
    server.fails.set('status', UNREACHABLE);
    server.socket.breaks();
    await pass(1000);
    server.reports.set(RUNNING, { ...running(), headline: 'Later.' });
    server.fails.delete('status');
    await pass(10000);
    expect(model.connection.state).toBe('connected');
    expect(shown().headline).toBe('Later.');
  });

  test('when the user tries again, then it is connecting until the answer comes', async () => {
    await start(healthy());
    server.fails.set('status', UNREACHABLE);
    server.socket.breaks();
    await pass(1000);
    server.fails.delete('status');
    model.reconnect();
    expect(model.connection).toEqual({ state: 'connecting' });
    await pass(300);
    expect(model.connection.state).toBe('connected');
  });

  test('when the report cannot be had, then it failed with the reason, and trying again brings it', async () => {
    await start(healthy());
    server.fails.set('report', new ApiError(500, 'The record is damaged.', 'Run the cell again.'));
    model.watch();
    await pass(300);
    expect(model.report).toEqual({
      state: 'failed',
      id: HEALTHY,
      message: 'The record is damaged.',
      remedy: 'Run the cell again.'
    });
    server.fails.delete('report');
    model.reconnect();
    await pass(300);
    expect(shown().run.id).toBe(HEALTHY);
  });

  test('when an update cannot be had, then the report that is shown stays', async () => {
    await start(running());
    model.watch();
    await pass(300);
    server.fails.set('report', new ApiError(500, 'Something went wrong.'));
    server.changed(RUNNING);
    await pass(1000);
    expect(shown().run.id).toBe(RUNNING);
  });

  test('when the list cannot be read, then the server is unusable and says why; later it is connected again', async () => {
    await start(healthy());
    server.fails.set('runs', new ApiError(500, 'The store is damaged.', 'See stc doctor.'));
    server.changed(HEALTHY);
    await pass(1500);
    expect(model.connection).toEqual({
      state: 'unusable',
      message: 'The store is damaged.',
      remedy: 'See stc doctor.'
    });
    server.fails.delete('runs');
    server.changed(HEALTHY);
    await pass(1500);
    expect(model.connection.state).toBe('connected');
  });

  test('when the server has another version, then no list is asked for', async () => {
    modelOver(new Server(healthy()));
    server.says = { ...server.says, version: '7.0.0', schema_version: 99 };
    model.start();
    await pass(1000);
    expect(model.connection).toMatchObject({ state: 'mismatch', server: '7.0.0' });
    expect(server.times('runs')).toBe(0);
  });

  test('when a message has a type that this panel does not know, then nothing happens', async () => {
    await start(healthy());
    const before = server.asked.length;
    server.socket.says({ type: 'weather', wind: 'north' });
    await pass(2000);
    expect(server.asked).toHaveLength(before);
  });
});

describe('given a model that is disposed of', () => {
  test('when the server speaks or a request ends afterwards, then nothing is told and nothing asked', async () => {
    await start(running());
    model.watch();
    await pass(300);
    const before = server.asked.length;
    server.changed(RUNNING);
    model.dispose();
    model.dispose();
    heard.signals = 0;
    await pass(60000);
    expect(model.isDisposed).toBe(true);
    expect(server.asked).toHaveLength(before);
    expect(heard.signals).toBe(0);
  });
});
