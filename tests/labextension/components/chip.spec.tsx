/** A place in the user's code: it leads there, and where it cannot it shows the code as it was recorded. */
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import { describe, expect, test, vi } from 'vitest';

import { chipText, excerpt, LocationChip } from '../../../labextension/src/components/chip';
import { OpenOutcome } from '../../../labextension/src/tokens';
import { healthy, HTML, place } from '../reports';
import { contextOf, expectAccessible, expectNoMarkup, show } from '../view';

const IN_FILE = { cell: null, cell_id: null, notebook: null };
const SOURCES = healthy().sources;

/** A chip pressed by somebody whose navigator answers so. */
async function pressed(outcome: OpenOutcome, changes: Partial<Parameters<typeof contextOf>[0]> = {}) {
  const context = contextOf({ sources: SOURCES, openLocation: vi.fn(async () => outcome), ...changes });
  const user = userEvent.setup();
  show(<LocationChip location={place()} />, context);
  const chip = screen.getByRole('button');
  await user.click(chip);
  return { context, user, chip };
}

describe('the words of a chip', () => {
  test('given a cell, then it says cell and line', () => {
    expect(chipText(place())).toBe('In[2] : 12');
  });

  test('given a file in a folder, then only its last part, and the whole path on hover', () => {
    const location = place({ ...IN_FILE, file: 'src/nets/digits.py', path: '/home/me/src/nets/digits.py' });
    show(<LocationChip location={location} />);
    const chip = screen.getByRole('button', { name: 'Go to src/nets/digits.py, line 12' });
    expect(chip.textContent).toBe('digits.py : 12');
    expect(chip.title).toContain('src/nets/digits.py, in DigitsNet.forward');
  });

  test('given HTML in the file name and the line, then it is text', () => {
    show(<LocationChip location={place({ ...IN_FILE, file: HTML, text: HTML, function: HTML })} />);
    expect(screen.getByRole('button').getAttribute('aria-label')).toContain(HTML);
    expectNoMarkup(document.body);
  });

  test('given a table that moves the focus itself, then the chip is left out of the Tab order', () => {
    show(<LocationChip location={place()} tabbable={false} />);
    expect(screen.getByRole('button').tabIndex).toBe(-1);
  });
});

describe('a chip that is pressed', () => {
  test('given the place is open, when clicked, then it is gone to and nothing pops up', async () => {
    const { context } = await pressed('shown');
    expect(context.openLocation).toHaveBeenCalledExactlyOnceWith(place());
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  test('given a row around it that opens at Enter, when Enter is pressed, then only the chip acts', async () => {
    const rowPressed = vi.fn();
    const context = contextOf({ openLocation: vi.fn(async (): Promise<OpenOutcome> => 'shown') });
    const user = userEvent.setup();
    show(
      <div onKeyDown={rowPressed} onClick={rowPressed}>
        <LocationChip location={place()} />
      </div>,
      context
    );
    screen.getByRole('button').focus();
    await user.keyboard('{Enter}');
    expect(context.openLocation).toHaveBeenCalledOnce();
    expect(rowPressed).not.toHaveBeenCalled();
  });

  test.each([
    ['not-open', 'The notebook is not open. As it was when recorded:'],
    ['cell-gone', 'The cell is not in the notebook any more. As it was when recorded:'],
    ['line-gone', 'The code has changed since this run. As it was when recorded:']
  ] as const)('given %s, then it says why and shows the recorded lines', async (outcome, why) => {
    await pressed(outcome);
    const dialog = screen.getByRole('dialog', { name: 'Recorded source of In[2]' });
    expect(dialog.textContent).toContain(why);
    expect(dialog.textContent).toContain('h = F.max_pool2d(h, 2)');
    const current = dialog.querySelector('[aria-current="location"]');
    expect(current?.textContent).toContain('h = F.relu(self.norm1(self.conv1(x)))');
    expect(document.activeElement?.closest('[role="dialog"]')).toBe(dialog);
    await expectAccessible(dialog);
  });

  test('given a file that is not open, then it speaks of the file', async () => {
    const context = contextOf({ canOpen: vi.fn(() => true) });
    show(<LocationChip location={place({ ...IN_FILE, file: 'train.py' })} />, context);
    await userEvent.click(screen.getByRole('button'));
    expect(screen.getByRole('dialog').textContent).toContain('The file is not open here.');
    expect(screen.getByRole('button', { name: 'Open the file' })).toBeTruthy();
  });

  test('given a notebook that can be opened, when asked to, then it opens and the box goes', async () => {
    const openClosed = vi.fn(async (): Promise<OpenOutcome> => 'shown');
    const { user } = await pressed('not-open', { canOpen: vi.fn(() => true), openClosed });
    await user.click(screen.getByRole('button', { name: 'Open the notebook' }));
    expect(openClosed).toHaveBeenCalledExactlyOnceWith(place());
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  test('given a notebook that is gone, when opening it fails, then the recorded lines stay', async () => {
    const { user } = await pressed('not-open', { canOpen: vi.fn(() => true) });
    await user.click(screen.getByRole('button', { name: 'Open the notebook' }));
    expect(screen.getByRole('dialog')).toBeTruthy();
  });

  test('given a notebook that nobody can open, then no button promises it', async () => {
    await pressed('not-open');
    expect(within(screen.getByRole('dialog')).getAllByRole('button')).toHaveLength(1);
  });

  test.each(['{Escape}', 'Close'])(
    'given the box, when it is left with %s, then the chip has the focus',
    async way => {
      const { user, chip } = await pressed('cell-gone');
      await (way === 'Close'
        ? user.click(screen.getByRole('button', { name: 'Close' }))
        : user.keyboard(way));
      expect(screen.queryByRole('dialog')).toBeNull();
      expect(document.activeElement).toBe(chip);
    }
  );

  test('given the box, when something else is pressed, then it goes', async () => {
    const { user } = await pressed('cell-gone');
    await user.click(document.body);
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  test('given the box, when what is below it scrolls away, then it goes', async () => {
    const { chip } = await pressed('cell-gone');
    vi.spyOn(chip, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, -300, 80, 20));
    document.dispatchEvent(new Event('scroll'));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });
});

describe('the recorded lines', () => {
  test('given the whole source, then three lines on either side', () => {
    expect(excerpt(SOURCES, place()).map(line => line.number)).toEqual([9, 10, 11, 12, 13, 14, 15]);
  });

  test('given a line at the beginning, then there are fewer above', () => {
    expect(excerpt(SOURCES, place({ line: 1 })).map(line => line.number)).toEqual([1, 2, 3, 4]);
  });

  test('given a source that begins further down, then its lines keep their numbers', () => {
    const part = { ...SOURCES[1], first_line: 100 };
    const lines = excerpt([part], place({ line: 111 }));
    expect(lines[3]).toEqual({ number: 111, text: '        h = F.relu(self.norm1(self.conv1(x)))' });
  });

  test.each([
    ['no source', []],
    ['a source that has become shorter', [{ ...SOURCES[1], text: 'one line' }]],
    ['a source that begins after it', [{ ...SOURCES[1], first_line: 50 }]]
  ])('given %s, then the line that the location quotes', (_, sources) => {
    expect(excerpt(sources, place())).toEqual([{ number: 12, text: place().text }]);
  });

  test('given not even that, then it says that nothing was recorded', async () => {
    show(<LocationChip location={place({ text: null })} />);
    await userEvent.click(screen.getByRole('button'));
    expect(screen.getByRole('dialog').textContent).toContain('Its source was not recorded.');
  });

  test('given HTML in the source, then it is text', async () => {
    const sources = [{ ...SOURCES[1], text: Array(20).fill(HTML).join('\n') }];
    show(<LocationChip location={place()} />, contextOf({ sources }));
    await userEvent.click(screen.getByRole('button'));
    expect(screen.getByRole('dialog').textContent).toContain(HTML);
    expectNoMarkup(document.body);
  });
});
