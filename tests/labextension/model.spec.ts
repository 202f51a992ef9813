/** The panel's state: which run is current, what is asked of the server and how often, and what is told to the views. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { StcModel } from '../../labextension/src/model';
import { Report, RunSummary } from '../../labextension/src/records';
import { ApiError } from '../../labextension/src/request';
import { NOTHING } from '../../labextension/src/tokens';
import { another, empty, healthy, leftEager, running, troubled } from './reports';
import { Server, UNREACHABLE } from './server';

let server: Server;
let model: StcModel;
let signals: number;

const pass = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);
const shown = (): Report => {
  expect(model.report.state).toBe('ready');
  return (model.report as { report: Report }).report;
};
const ids = (): string[] | undefined => model.runs?.map(summary => summary.run.id);

async function start(...reports: Report[]): Promise<void> {
  server = new Server(...reports);
  model = new StcModel(server);
  signals = 0;
  model.changed.connect(() => {
    signals++;
  });
  model.start();
  await pass(300);
}

const HEALTHY = healthy().run.id;
const TROUBLED = troubled().run.id;
const RUNNING = running().run.id;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2025-12-01T12:00:00Z') });
});

afterEach(() => {
  model.dispose();
  vi.useRealTimers();
});

describe('given a server with runs', () => {
  test('when the panel starts, then the list comes, live runs first and then the newest first', async () => {
    await start(empty(), healthy(), leftEager(), running(), troubled());
    expect(model.connection.state).toBe('connected');
    expect(ids()).toEqual([RUNNING, TROUBLED, HEALTHY, leftEager().run.id, empty().run.id]);
  });

  test('when two runs began at the same moment, then their ids decide', async () => {
    await start(another(healthy(), 'a'), another(healthy(), 'c'), another(healthy(), 'b'));
    expect(ids()).toEqual(['c', 'b', 'a']);
  });

  test('when no list has come yet, then the runs are not known, which is not the same as none', async () => {
    server = new Server();
    model = new StcModel(server);
    expect(model.runs).toBeNull();
    model.start();
    await pass(300);
    expect(model.runs).toEqual([]);
    expect(model.report).toEqual({ state: 'none' });
    expect(model.currentId).toBeNull();
  });

  test('when nobody looks, then no report is asked for', async () => {
    await start(healthy());
    expect(model.currentId).toBe(HEALTHY);
    expect(model.report).toEqual({ state: 'loading', id: HEALTHY });
    expect(server.times(`report ${HEALTHY}`)).toBe(0);
  });

  test('when somebody looks, then the report comes once', async () => {
    await start(healthy());
    model.watch();
    model.watch();
    await pass(300);
    expect(shown().headline).toBe(healthy().headline);
    expect(server.times(`report ${HEALTHY}`)).toBe(1);
  });

  test('when everybody has looked away, then changes are not asked for until somebody looks again', async () => {
    await start(running());
    const watching = model.watch();
    await pass(300);
    watching.dispose();
    server.changed(RUNNING);
    await pass(5000);
    expect(server.times(`report ${RUNNING}`)).toBe(1);
    model.watch();
    await pass(300);
    expect(server.times(`report ${RUNNING}`)).toBe(2);
  });

  test('when a watcher is disposed of twice, then the other one still watches', async () => {
    await start(running());
    const first = model.watch();
    model.watch();
    first.dispose();
    first.dispose();
    await pass(300);
    server.changed(RUNNING);
    await pass(1000);
    expect(server.times(`report ${RUNNING}`)).toBe(2);
  });
});

describe('given the choice of a run', () => {
  test('when another is opened, then it loads and nothing stays picked out', async () => {
    await start(healthy(), troubled());
    model.watch();
    await pass(300);
    model.select({ kernel: 'k', line: { file: 'In[1]', line: 5 } });
    model.open(HEALTHY);
    expect(model.report).toEqual({ state: 'loading', id: HEALTHY });
    expect(model.selection).toEqual(NOTHING);
    await pass(300);
    expect(shown().run.id).toBe(HEALTHY);
  });

  test('when an older one is open, then a new run does not take its place', async () => {
    await start(healthy(), troubled());
    model.open(HEALTHY);
    server.reports.set(RUNNING, running());
    server.changed(RUNNING);
    await pass(300);
    expect(ids()?.[0]).toBe(RUNNING);
    expect(model.currentId).toBe(HEALTHY);
  });

  test('when the newest is open, then a newer run takes its place', async () => {
    await start(healthy(), troubled());
    server.reports.set(RUNNING, running());
    server.changed(RUNNING);
    await pass(300);
    expect(model.currentId).toBe(RUNNING);
  });

  test('when null is opened, then the newest is followed again', async () => {
    await start(healthy(), troubled());
    model.open(HEALTHY);
    model.open(null);
    expect(model.currentId).toBe(TROUBLED);
    server.reports.set(RUNNING, running());
    server.changed(RUNNING);
    await pass(300);
    expect(model.currentId).toBe(RUNNING);
  });

  test('when the same run is opened again, then what is picked out stays', async () => {
    await start(healthy());
    model.select({ kernel: 'k' });
    model.open(HEALTHY);
    expect(model.selection.kernel).toBe('k');
  });

  test('when a report comes after another run was opened, then it is not shown', async () => {
    await start(healthy(), troubled());
    let answer: (report: Report) => void = () => undefined;
    vi.spyOn(server, 'report').mockImplementationOnce(
      () => new Promise<Report>(resolve => (answer = resolve))
    );
    model.watch();
    await pass(0);
    model.open(HEALTHY);
    answer(troubled());
    await pass(300);
    expect(shown().run.id).toBe(HEALTHY);
  });

  test('when parts are picked out one after the other, then they add up', async () => {
    await start(healthy());
    model.select({ graph: 'g' });
    model.select({ event: 'e' });
    expect(model.selection).toEqual({ ...NOTHING, graph: 'g', event: 'e' });
  });

  test('when a tab is shown, then it stays over a change of run', async () => {
    await start(healthy(), troubled());
    model.show('fusion');
    model.open(HEALTHY);
    expect(model.tab).toBe('fusion');
  });
});

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
    signals = 0;
    server.asked.length = 0;
    for (let at = 0; at < 80; at++) {
      server.changed(RUNNING);
      await pass(25);
    }
    expect(signals).toBeGreaterThanOrEqual(6);
    expect(signals).toBeLessThanOrEqual(9);
    expect(server.times(`report ${RUNNING}`)).toBeLessThanOrEqual(9);
    expect(server.times('runs')).toBeLessThanOrEqual(4);
  });

  test('when the interval is set to a second, then they hear of it once a second', async () => {
    await start(running());
    model.interval = 1000;
    await pass(2000);
    signals = 0;
    for (let at = 0; at < 80; at++) {
      server.changed(RUNNING);
      await pass(50);
    }
    expect(signals).toBeGreaterThanOrEqual(3);
    expect(signals).toBeLessThanOrEqual(5);
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

describe('given the wish to rename or delete', () => {
  test('when a run is renamed, then list and report have the new name at once', async () => {
    await start(healthy());
    model.watch();
    await pass(300);
    await model.rename(HEALTHY, 'wide net');
    expect(model.runs?.[0].run.name).toBe('wide net');
    expect(shown().run.name).toBe('wide net');
  });

  test('when the server refuses a name, then the old one stays and the caller is told', async () => {
    await start(healthy());
    server.fails.set('rename', new ApiError(400, 'The name is too long.'));
    await expect(model.rename(HEALTHY, 'x')).rejects.toThrow('The name is too long.');
    expect(model.runs?.[0].run.name).toBe(healthy().run.name);
  });

  test('when the current run is deleted, then the newest of the rest is shown', async () => {
    await start(healthy(), troubled());
    model.watch();
    await model.delete(TROUBLED);
    await pass(300);
    expect(ids()).toEqual([HEALTHY]);
    expect(shown().run.id).toBe(HEALTHY);
  });

  test('when the last run is deleted, then none is current', async () => {
    await start(healthy());
    await model.delete(HEALTHY);
    expect(model.currentId).toBeNull();
    expect(model.report).toEqual({ state: 'none' });
    expect(model.runs).toEqual([]);
  });

  test('when somebody else deletes the current run, then it goes as well', async () => {
    await start(healthy(), troubled());
    server.reports.delete(TROUBLED);
    server.socket.says({ type: 'changed', runs: [], removed: [TROUBLED] });
    expect(model.currentId).toBe(HEALTHY);
    expect(ids()).toEqual([HEALTHY]);
  });

  test('when deleting fails, then the run stays and the caller is told', async () => {
    await start(healthy());
    server.fails.set('delete', new ApiError(409, 'The run goes on.'));
    await expect(model.delete(HEALTHY)).rejects.toThrow('The run goes on.');
    expect(ids()).toEqual([HEALTHY]);
  });
});

describe('given artefacts', () => {
  test('when one is asked for twice, then it is fetched once', async () => {
    await start(healthy());
    server.artefacts.set('code.py', 'x = 1');
    expect(await model.artefact(HEALTHY, 'code.py')).toBe('x = 1');
    expect(await model.artefact(HEALTHY, 'code.py')).toBe('x = 1');
    expect(server.times(`artefact ${HEALTHY} code.py`)).toBe(1);
  });

  test('when it could not be fetched, then asking again tries again', async () => {
    await start(healthy());
    await expect(model.artefact(HEALTHY, 'code.py')).rejects.toThrow('no such artefact');
    server.artefacts.set('code.py', 'x = 1');
    expect(await model.artefact(HEALTHY, 'code.py')).toBe('x = 1');
  });

  test('when the run changes, then its artefacts may have changed as well and are fetched anew', async () => {
    await start(running());
    server.artefacts.set('code.py', 'x = 1');
    await model.artefact(RUNNING, 'code.py');
    server.artefacts.set('code.py', 'x = 2');
    server.changed(RUNNING);
    expect(await model.artefact(RUNNING, 'code.py')).toBe('x = 2');
  });

  test('when the socket was lost meanwhile, then what is kept may be old and is fetched anew', async () => {
    await start(running());
    server.artefacts.set('code.py', 'x = 1');
    await model.artefact(RUNNING, 'code.py');
    server.artefacts.set('code.py', 'x = 2');
    server.socket.breaks();
    await pass(1000);
    expect(await model.artefact(RUNNING, 'code.py')).toBe('x = 2');
  });

  test('when two runs have an artefact of the same name, then each has its own', async () => {
    await start(healthy(), troubled());
    server.artefacts.set('code.py', 'x = 1');
    await model.artefact(HEALTHY, 'code.py');
    await model.artefact(TROUBLED, 'code.py');
    expect(server.times(`artefact ${TROUBLED} code.py`)).toBe(1);
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
    server = new Server(healthy());
    server.says = { ...server.says, version: '7.0.0', schema_version: 99 };
    model = new StcModel(server);
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
    signals = 0;
    await pass(60000);
    expect(model.isDisposed).toBe(true);
    expect(server.asked).toHaveLength(before);
    expect(signals).toBe(0);
  });
});
