/** The status bar's item: there while a run goes on, and only where the settings want it. */
import { waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Widget } from '@lumino/widgets';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { StcModel } from '../../labextension/src/model';
import { Report } from '../../labextension/src/records';
import { statusItem } from '../../labextension/src/status';
import { another, healthy, HTML, running } from './reports';
import { Server } from './server';
import { expectAccessible, expectNoMarkup, trans } from './view';

const RUNNING = running().run.id;

let server: Server;
let model: StcModel;
let item: ReturnType<typeof statusItem>;
let onOpen: ReturnType<typeof vi.fn>;
/** What the status bar was told: whether the item is wanted. */
let told: boolean[];

beforeEach(() => {
  onOpen = vi.fn();
  told = [];
});

afterEach(() => {
  item.dispose();
  model.dispose();
});

async function start(...reports: Report[]): Promise<void> {
  server = new Server(...reports);
  model = new StcModel(server);
  model.interval = 0;
  item = statusItem(model, trans, onOpen as unknown as () => void);
  item.wantedChanged.connect(() => {
    told.push(item.isWanted);
  });
  Widget.attach(item, document.body);
  model.start();
  await waitFor(() => expect(model.runs).not.toBeNull());
}
const change = (report: Report): void => {
  server.reports.set(report.run.id, report);
  server.changed(report.run.id);
};
const button = (): HTMLElement | null => item.node.querySelector('button');

describe('given runs', () => {
  test('when none goes on, then there is no item', async () => {
    await start(healthy());
    expect(item.isWanted).toBe(false);
    expect(told).toEqual([]);
    expect(button()).toBeNull();
  });

  test('when one goes on, then the item says what it is doing, and opens the panel', async () => {
    await start(healthy(), running());
    await waitFor(() => expect(button()?.textContent).toBe(`STC: ${running().headline}`));
    expect(told).toEqual([true]);
    await userEvent.click(button() as HTMLElement);
    expect(onOpen).toHaveBeenCalledOnce();
    await expectAccessible(item.node);
  });

  test('when one begins, goes on and ends, then the status bar is told at the beginning and at the end only', async () => {
    await start(healthy());
    change(running());
    await waitFor(() => expect(told).toEqual([true]));
    change({ ...running(), headline: 'Compiling graph 3.' });
    await waitFor(() => expect(button()?.textContent).toBe('STC: Compiling graph 3.'));
    expect(told).toEqual([true]);
    change(another(healthy(), RUNNING));
    await waitFor(() => expect(told).toEqual([true, false]));
    await waitFor(() => expect(button()).toBeNull());
  });

  test('when its headline has HTML in it, then that is text', async () => {
    await start({ ...running(), headline: HTML });
    await waitFor(() => expect(button()?.textContent).toContain(HTML));
    expectNoMarkup(item.node);
  });
});

describe('given the setting', () => {
  test('when it is turned off and on during a run, then the status bar is told each time', async () => {
    await start(running());
    item.isEnabled = false;
    expect(item.isWanted).toBe(false);
    item.isEnabled = true;
    expect(item.isWanted).toBe(true);
    expect(told).toEqual([true, false, true]);
  });

  test('when it is turned off before a run begins, then no item comes', async () => {
    await start(healthy());
    item.isEnabled = false;
    change(running());
    await waitFor(() => expect(model.runs).toHaveLength(2));
    expect(item.isWanted).toBe(false);
    expect(told).toEqual([]);
  });

  test('when it is set to what it was, then nobody is told', async () => {
    await start(running());
    item.isEnabled = true;
    expect(told).toEqual([true]);
  });
});

describe('given an item that is disposed of', () => {
  test('when a run begins, then nobody is told', async () => {
    await start(healthy());
    item.dispose();
    change(running());
    await waitFor(() => expect(model.runs).toHaveLength(2));
    expect(told).toEqual([]);
  });
});
