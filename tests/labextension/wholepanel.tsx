/** The whole panel with its real model, over a server in memory. */
import { cleanup, render, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import { afterEach, expect, vi } from 'vitest';

import { StcModel } from '../../labextension/src/model';
import { Panel } from '../../labextension/src/panel/panel';
import { Location, Report } from '../../labextension/src/records';
import { INavigator, OpenOutcome, Tab } from '../../labextension/src/tokens';
import { setWidth } from './layout';
import { CODE } from './reports';
import { Server } from './server';
import { trans } from './view';

export const NARROW = 320;
export const WIDE = 1100;

/** Nothing is open and nothing can be. */
export function navigatorOf(outcome: OpenOutcome = 'not-open') {
  return {
    open: vi.fn(async (_: Location) => outcome),
    openClosed: vi.fn(async (_: Location): Promise<OpenOutcome> => 'shown'),
    canOpen: vi.fn((_: Location) => false)
  } satisfies INavigator;
}

export interface IPanelSetting {
  width?: number;
  tab?: Tab;
  navigator?: INavigator;
  server?: Server;
  theme?: string;
}

const models = new Set<StcModel>();

// The boxes that hang on the page itself are React's to remove, before the page is emptied.
afterEach(() => {
  cleanup();
  models.forEach(model => model.dispose());
  models.clear();
  document.body.replaceChildren();
});

/** Draw the panel, and wait for nothing: its first state is "connecting". */
export function drawPanel(reports: readonly Report[], setting: IPanelSetting = {}) {
  const server = setting.server ?? new Server(...reports);
  for (const [name, text] of Object.entries(CODE)) {
    server.artefacts.set(name, text);
  }
  const model = new StcModel(server);
  models.add(model);
  model.interval = 0;
  model.watch();
  model.show(setting.tab ?? 'overview');
  const navigator = setting.navigator ?? navigatorOf();
  setWidth(setting.width ?? NARROW);
  const view = render(
    <Panel
      model={model}
      navigator={navigator}
      trans={trans}
      themes={null}
      theme={setting.theme ?? 'JupyterLab Light'}
      isVisible={() => true}
    />
  );
  model.start();
  return { ...view, server, model, navigator, user: userEvent.setup() };
}

/** Draw the panel with these reports, and wait until the newest of them is shown. */
export async function openPanel(reports: readonly Report[], setting: IPanelSetting = {}) {
  const panel = drawPanel(reports, setting);
  await waitFor(() => expect(panel.container.querySelector('[role="tabpanel"]')?.childElementCount).toBe(1));
  return panel;
}
