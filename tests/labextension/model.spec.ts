/** The panel's state: which run is current, what is asked of the server, names, deletions and artefacts. */
import { describe, expect, test, vi } from 'vitest';

import { Report } from '../../labextension/src/records';
import { ApiError } from '../../labextension/src/request';
import { NOTHING } from '../../labextension/src/tokens';
import { HEALTHY, ids, model, modelOver, pass, RUNNING, server, shown, start, TROUBLED } from './modelparts';
import { another, empty, healthy, leftEager, running, troubled } from './reports';
import { Server } from './server';

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
    modelOver(new Server());
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
