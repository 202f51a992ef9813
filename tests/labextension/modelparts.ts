/** A real model over a server in memory, at a time of the test's own. */
import { afterEach, beforeEach, expect, vi } from 'vitest';

import { StcModel } from '../../labextension/src/model';
import { Report } from '../../labextension/src/records';
import { healthy, running, troubled } from './reports';
import { Server } from './server';

export let server: Server;
export let model: StcModel;
/** How often the model has said that something changed. */
export const heard = { signals: 0 };

export const HEALTHY = healthy().run.id;
export const TROUBLED = troubled().run.id;
export const RUNNING = running().run.id;

export const pass = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);
export const ids = (): string[] | undefined => model.runs?.map(summary => summary.run.id);

/** The report that is shown. */
export function shown(): Report {
  expect(model.report.state).toBe('ready');
  return (model.report as { report: Report }).report;
}

/** A model that has not asked for anything yet. */
export function modelOver(one: Server): void {
  server = one;
  model = new StcModel(server);
  heard.signals = 0;
  model.changed.connect(() => {
    heard.signals++;
  });
}

/** A model that has its first list of runs. */
export async function start(...reports: Report[]): Promise<void> {
  modelOver(new Server(...reports));
  model.start();
  await pass(300);
}

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2025-12-01T12:00:00Z') });
});

afterEach(() => {
  model.dispose();
  vi.useRealTimers();
});
