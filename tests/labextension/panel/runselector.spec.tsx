/** The run list: grouped, searched, walked with the keyboard; runs renamed and deleted in it. */
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import { describe, expect, test, vi } from 'vitest';

import {
  groupOf,
  IRunSelectorProps,
  matches,
  RunSelector
} from '../../../labextension/src/panel/runselector';
import { Run, RunSummary } from '../../../labextension/src/records';
import { ApiError } from '../../../labextension/src/request';
import { another, empty, healthy, HTML, leftEager, running, summaryOf, troubled } from '../reports';
import { expectAccessible, expectNoMarkup, show } from '../view';
import { openPanel } from '../wholepanel';

const RUNS: readonly RunSummary[] = [running(), troubled(), healthy(), leftEager(), empty()].map(summaryOf);
const HEALTHY = healthy().run.id;
const from = (origin: Partial<Run['origin']>): Run => ({
  ...healthy().run,
  origin: { ...healthy().run.origin, ...origin }
});

async function list(props: Partial<IRunSelectorProps> = {}) {
  const heard = {
    onOpen: vi.fn(),
    onRename: vi.fn(async () => undefined),
    onDelete: vi.fn(async () => undefined)
  };
  const user = userEvent.setup();
  const view = show(<RunSelector runs={RUNS} currentId={HEALTHY} {...heard} {...props} />);
  await user.click(toggle());
  return { ...view, ...heard, user };
}

const toggle = (): HTMLElement => screen.getByRole('button', { name: 'Choose a run' });
const groups = (): [string | null, (string | null)[]][] =>
  screen
    .queryAllByRole('region')
    .map(group => [
      group.getAttribute('aria-label'),
      [...group.querySelectorAll('.stc-Run-name')].map(name => name.textContent)
    ]);
const names = (): (string | null)[] => groups().flatMap(([, members]) => members);
const runButton = (name: string): HTMLElement =>
  screen.getAllByRole('button').find(one => one.querySelector('.stc-Run-name')?.textContent === name)!;

describe('where a run came from', () => {
  test.each([
    [{ notebook: 'work/nets/digits.ipynb', script: null }, 'digits.ipynb'],
    [{ notebook: null, script: '/home/me/train.py' }, 'train.py'],
    [{ notebook: null, script: null, kind: 'function' as const }, 'function']
  ])('given %o, then %s', (origin, name) => {
    expect(groupOf(from(origin))).toBe(name);
  });
});

describe('the filter', () => {
  const summary = summaryOf(healthy());

  test.each(['', '  ', 'digits', 'DIGITS', 'completed', 'cpu', 'inductor', 'faster 1.32', 'ipynb digits'])(
    'given "%s", then the run is found',
    filter => expect(matches(summary, filter)).toBe(true)
  );

  test.each(['failed', 'digits cuda', 'digitsx'])('given "%s", then it is not', filter => {
    expect(matches(summary, filter)).toBe(false);
  });

  test('given words, then only the runs that have all of them; without any left, that is said', async () => {
    const { user } = await list();
    const field = screen.getByRole('searchbox', { name: 'Filter runs' });
    expect(document.activeElement).toBe(field);
    await user.type(field, 'digits completed');
    expect(names()).toEqual(['digits.ipynb In[2]']);
    await user.type(field, ' <b>');
    expect(names()).toEqual([]);
    expect(screen.getByText('No run matches “digits completed <b>”.')).toBeTruthy();
  });

  test('given a filter, when the list is closed and opened again, then all runs are there', async () => {
    const { user } = await list();
    await user.type(screen.getByRole('searchbox'), 'tiny');
    await user.keyboard('{Escape}');
    await user.click(toggle());
    expect(names()).toHaveLength(RUNS.length);
  });
});

describe('the list', () => {
  test('given runs, then live ones on top, then by notebook', async () => {
    await list();
    expect(groups()).toEqual([
      ['Running', ['digits.ipynb In[2]']],
      ['regressor.ipynb', ['regressor.ipynb In[3]']],
      ['digits.ipynb', ['digits.ipynb In[2]']],
      ['tiny.ipynb', ['tiny.ipynb In[2]']],
      ['notes.ipynb', ['notes.ipynb In[4]']]
    ]);
  });

  test('given runs, then each says how it stands, its speed-up and its faults, where there are any', async () => {
    const lost = another(healthy(), 'lost', { status: 'lost' });
    const partial = another(healthy(), 'partial', { partial: true });
    await list({ runs: [...RUNS, summaryOf(lost), summaryOf(partial)] });
    const line = (name: string): string => runButton(name).querySelector('.stc-Run-line')?.textContent ?? '';
    expect(line('regressor.ipynb In[3]')).toContain('· failed · 2 errors · 5 warnings');
    expect(line('notes.ipynb In[4]')).toContain('· completed · 1 warning');
    expect(line('lost')).toContain('· lost · 1.32×');
    expect(line('partial')).toContain('· partial · 1.32×');
    expect(line('tiny.ipynb In[2]')).not.toContain('×');
  });

  test('given the current run, then it is marked in the list and named on top', async () => {
    const { container } = await list();
    expect(toggle().textContent).toContain('digits.ipynb In[2]');
    const current = container.querySelectorAll('[aria-current="true"]');
    expect([...current].map(one => one.querySelector('.stc-Run-name')?.textContent)).toEqual([
      'digits.ipynb In[2]'
    ]);
  });

  test('given no current run, then that is said', async () => {
    await list({ currentId: null });
    expect(toggle().textContent).toContain('No run chosen');
  });

  test('given a status of a newer version, then its own word is shown', async () => {
    const strange = another(healthy(), 'strange', { status: 'paused' as Run['status'] });
    await list({ runs: [summaryOf(strange)] });
    expect(runButton('strange').textContent).toContain('paused');
  });

  test('given HTML in names, notebooks and headlines, then it is text', async () => {
    const strange = another(healthy(), HTML);
    strange.run.origin.notebook = HTML;
    const { container } = await list({ runs: [{ ...summaryOf(strange), headline: HTML }], currentId: HTML });
    expect(names()).toEqual([HTML]);
    expectNoMarkup(container);
  });

  test('given an open list, then axe finds nothing in the way', async () => {
    const { container } = await list();
    await expectAccessible(container);
  });
});

describe('the choice', () => {
  test('given a list, when a run is clicked, then it opens and the list closes, with the focus on its button', async () => {
    const { user, onOpen } = await list();
    await user.click(runButton('tiny.ipynb In[2]'));
    expect(onOpen).toHaveBeenCalledExactlyOnceWith(leftEager().run.id);
    expect(names()).toEqual([]);
    expect(document.activeElement).toBe(toggle());
  });

  test('given a list, when arrows and Enter are pressed, then run after run, and the one reached opens', async () => {
    const { user, onOpen } = await list();
    await user.keyboard('{ArrowDown}{ArrowDown}{ArrowDown}{ArrowUp}');
    expect(document.activeElement).toBe(runButton('regressor.ipynb In[3]'));
    await user.keyboard('{ArrowDown}'.repeat(20));
    expect(document.activeElement).toBe(runButton('notes.ipynb In[4]'));
    await user.keyboard('{Enter}');
    expect(onOpen).toHaveBeenCalledExactlyOnceWith(empty().run.id);
  });

  test('given a list, when Escape is pressed or something else is, then it closes and nothing opens', async () => {
    const { user, onOpen } = await list();
    await user.keyboard('{Escape}');
    expect([names(), document.activeElement]).toEqual([[], toggle()]);
    await user.click(toggle());
    await user.click(document.body);
    expect(names()).toEqual([]);
    expect(onOpen).not.toHaveBeenCalled();
  });
});

describe('a new name', () => {
  const field = (): HTMLInputElement => screen.getByRole('textbox', { name: /^New name of/ });

  async function renaming() {
    const all = await list();
    await all.user.click(screen.getByRole('button', { name: 'Rename tiny.ipynb In[2]' }));
    return all;
  }

  test('given the wish to rename, then the old name stands selected in a field', async () => {
    await renaming();
    await waitFor(() => expect(field().selectionEnd).toBe('tiny.ipynb In[2]'.length));
    expect(field().selectionStart).toBe(0);
  });

  test('when a name is typed and Enter pressed, then it is asked for once, without spaces around it', async () => {
    const { user, onRename } = await renaming();
    await user.clear(field());
    await user.type(field(), '  wide net {Enter}');
    expect(onRename).toHaveBeenCalledExactlyOnceWith(leftEager().run.id, 'wide net');
    expect(screen.queryByRole('textbox')).toBeNull();
  });

  test('when the field is left, then the name counts as well', async () => {
    const { user, onRename } = await renaming();
    await user.type(field(), '!');
    await user.click(screen.getByRole('searchbox'));
    expect(onRename).toHaveBeenCalledOnce();
  });

  test.each(['{Escape}', '{Enter}', '[clear]{Enter}', '   {Enter}'])(
    'when it ends with %s and nothing new, then nothing is asked for and the list stays',
    async keys => {
      const { user, onRename } = await renaming();
      if (keys.startsWith('[clear]')) {
        await user.clear(field());
      }
      await user.type(field(), keys.replace('[clear]', ''));
      expect(onRename).not.toHaveBeenCalled();
      expect(names()).toHaveLength(RUNS.length);
    }
  );
});

describe('deleting', () => {
  test('given a run that goes on, then it cannot be deleted, and why is said', async () => {
    await list({ runs: [summaryOf(running())] });
    const button = screen.getByRole<HTMLButtonElement>('button', { name: /^Delete/ });
    expect(button.disabled).toBe(true);
    expect(button.title).toBe('A run that goes on cannot be deleted.');
  });

  test('given a run that has ended, when asked to, then that run is meant', async () => {
    const { user, onDelete } = await list();
    await user.click(screen.getByRole('button', { name: 'Delete tiny.ipynb In[2]' }));
    expect(onDelete).toHaveBeenCalledExactlyOnceWith(leftEager().run);
  });
});

describe('given the whole panel', () => {
  /** JupyterLab's own box. jsdom does not open a `dialog` element, so its role cannot be asked for. */
  const dialog = (text: string): Promise<HTMLElement> =>
    waitFor(() => {
      const box = document.querySelector<HTMLElement>('.jp-Dialog-content');
      expect(box?.textContent ?? '').toContain(text);
      return box as HTMLElement;
    });
  const press = async (box: HTMLElement, words: string): Promise<void> => {
    await userEvent.click(within(box).getByText(words));
    await waitFor(() => expect(box.isConnected).toBe(false));
  };

  /** The list closes when the box is pressed. */
  const listed = async (): Promise<(string | null)[]> => {
    await userEvent.click(toggle());
    return names();
  };

  async function asked(action: 'Rename' | 'Delete') {
    const panel = await openPanel([healthy(), troubled()]);
    await panel.user.click(toggle());
    await panel.user.click(screen.getByRole('button', { name: `${action} digits.ipynb In[2]` }));
    return panel;
  }

  test('when a run is renamed, then list and heading say the new name', async () => {
    const { user, server } = await asked('Rename');
    await user.type(screen.getByRole('textbox'), ' again{Enter}');
    await waitFor(() => expect(names()).toContain('digits.ipynb In[2] again'));
    expect(server.reports.get(HEALTHY)?.run.name).toBe('digits.ipynb In[2] again');
  });

  test('when renaming fails, then the reason is told and the old name stays', async () => {
    const { user, server } = await asked('Rename');
    server.fails.set('rename', new ApiError(507, 'The disk is full.', 'Make room.'));
    await user.type(screen.getByRole('textbox'), ' again{Enter}');
    await press(await dialog('The disk is full. Make room.'), 'Close');
    expect(await listed()).toContain('digits.ipynb In[2]');
  });

  test('when deleting is confirmed, then the run goes', async () => {
    const { server } = await asked('Delete');
    await press(await dialog('digits.ipynb In[2], with its report and generated code'), 'Delete');
    await waitFor(() => expect(server.reports.has(HEALTHY)).toBe(false));
    expect(await listed()).toEqual(['regressor.ipynb In[3]']);
  });

  test('when deleting is cancelled, then the run stays', async () => {
    const { server } = await asked('Delete');
    await press(await dialog('Delete this run?'), 'Cancel');
    expect(server.reports.has(HEALTHY)).toBe(true);
    expect(server.times(`delete ${HEALTHY}`)).toBe(0);
  });

  test('when deleting fails, then the reason is told and the run stays', async () => {
    const { server } = await asked('Delete');
    server.fails.set('delete', new ApiError(409, 'The run goes on.'));
    await press(await dialog('Delete this run?'), 'Delete');
    await press(await dialog('The run goes on.'), 'Close');
    expect(await listed()).toContain('digits.ipynb In[2]');
  });
});
