/** The view of breaks, recompilations and limits over the steps. */
import { fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';

import { Break, Report } from '../../../../labextension/src/records';
import { empty, healthy, leftEager, place, running, troubled } from '../../reports';
import { navigatorOf, openPanel, WIDE } from '../../wholepanel';

const open = (report: Report, setting: Parameters<typeof openPanel>[1] = {}) =>
  openPanel([report], { tab: 'breaks', width: WIDE, ...setting });
const changed = (change: (report: Report) => void, report = troubled()): Report => {
  change(report);
  return report;
};

const cards = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('.stc-Event')];
const titles = (): (string | null)[] =>
  cards().map(card => card.querySelector('.stc-Event-title')?.textContent ?? null);
const card = (title: RegExp): HTMLElement =>
  cards().find(one => title.test(one.querySelector('.stc-Event-title')?.textContent ?? ''))!;
const mark = (name: RegExp): HTMLElement => screen.getByRole('button', { name });
const rows = (): HTMLElement[] =>
  within(screen.getByRole('treegrid', { name: 'Recompilations' }))
    .getAllByRole('row')
    .filter(row => row.dataset['id']);
const range = (): HTMLElement | null =>
  screen.queryByRole('button', { name: 'Show the events of all steps' });

describe('given a run with everything', () => {
  test('when it is shown, then one sentence sums it up, and a lane is there for each kind', async () => {
    const { container } = await open(troubled());
    expect(container.querySelector('.stc-Breaks-sentence')?.textContent).toBe(
      '2 lines break the graph, 14 recompilations, 1 function is not compiled any more.'
    );
    const timeline = screen.getByRole('group', { name: 'Breaks and recompilations over the steps' });
    expect([...timeline.querySelectorAll('.stc-Timeline-lanes > div')].map(lane => lane.textContent)).toEqual(
      ['Breaks', 'Recompiled', 'Limit']
    );
  });

  test('when it is shown, then the limit comes first, with its guard, its step and what to do', async () => {
    await open(troubled());
    const [first] = cards();
    expect(first.textContent).toContain('Regressor.forward is not compiled any more from call 9 on');
    expect(first.textContent).toContain('The guard that kept failing: self.seen == 8');
    expect(first.textContent).toContain('Step 9.');
    expect(first.textContent).toContain('What to doMake the counter self.seen a buffer');
  });

  test('when it is shown, then a break has its line, how often, in which steps, what to do and torch’s own words', async () => {
    const { user } = await open(troubled());
    const one = card(/item/);
    expect(one.textContent).toContain('history.append(loss.item())');
    expect(one.textContent).toContain('8 times');
    expect(one.textContent).toContain('steps 1–8');
    expect(one.textContent).toContain('Let the model return loss');
    for (const words of ["torch's hint", "torch's words", 'Called from (2 frames)']) {
      const box = within(one).getByText(words).closest('details') as HTMLDetailsElement;
      expect(box.open).toBe(false);
      await user.click(within(one).getByText(words));
      expect(box.open).toBe(true);
    }
  });

  test('when a place of the stack is pressed, then it is gone to', async () => {
    const navigator = navigatorOf('shown');
    const { user } = await open(troubled(), { navigator });
    const stack = card(/item/).querySelector<HTMLElement>('.stc-Stack') as HTMLElement;
    await user.click(within(stack).getByRole('button', { name: 'Go to In[3], line 5' }));
    expect(navigator.open).toHaveBeenCalledExactlyOnceWith(troubled().compile.breaks[0].stack[0]);
  });

  test('when it is shown, then recompilations have guard, change, function, line, call and step', async () => {
    await open(troubled());
    expect([...rows()[0].children].slice(1).map(cell => cell.textContent)).toEqual([
      'self.seen == 1',
      '0 → 1',
      'Regressor.forward',
      'In[1] : 16',
      '2',
      '2'
    ]);
    expect(rows()).toHaveLength(14);
  });

  test('when it is narrow, then three columns, and the rest in the row that unfolds', async () => {
    const { user } = await open(troubled(), { width: 320 });
    expect([...rows()[0].children].slice(1).map(cell => cell.textContent)).toEqual([
      'self.seen == 1',
      '0 → 1',
      '2'
    ]);
    await user.click(within(rows()[0]).getByRole('button', { name: 'Unfold self.seen == 1' }));
    const details = document.querySelector('.stc-Table-details');
    expect(details?.textContent).toContain('FunctionRegressor.forward');
    expect(details?.textContent).toContain('step 2, call 2');
  });

  test("when it is shown, then torch's own and what could not be seen are there, folded", async () => {
    await open(troubled());
    expect(screen.getByText("2 of torch's own, harmless").closest('details')?.open).toBe(false);
    expect(card(/graph_break/).querySelector('button.stc-Event-title')).toBeNull(); // no mark to pick it out of
    const gaps = screen.getByText('What could not be seen (2)').closest('details') as HTMLDetailsElement;
    expect(gaps.open).toBe(false);
    expect(gaps.textContent).toContain('torch 2.13 has no layout for a freed buffer. ×3');
  });
});

describe('given a stretch of steps', () => {
  test('when a mark is picked, then only its steps’ events are listed, and it is picked out; again, and all are', async () => {
    const { user, model } = await open(troubled());
    await user.click(mark(/^Limit, step 9/));
    expect(range()?.textContent).toContain('Step 9');
    expect(titles().filter(title => title !== null && !title.includes('graph_break'))).toEqual([
      'Regressor.forward is not compiled any more from call 9 on'
    ]);
    expect(screen.getByRole('heading', { name: 'Graph breaks' }).parentElement?.textContent).toContain(
      '0 of 2'
    );
    expect(model.selection.event).toContain('limit:');
    expect(card(/not compiled/).querySelector('[aria-pressed="true"]')).not.toBeNull();
    await user.click(mark(/^Limit, step 9/));
    expect(range()).toBeNull();
    expect(model.selection.event).toBeNull();
    expect(rows()).toHaveLength(14);
  });

  test('when a mark of many events is picked, then all of their steps', async () => {
    const { user } = await open(troubled(), { width: 320 });
    await user.click(screen.getByRole('button', { name: /show all 212 steps/ }));
    await user.click(mark(/^Breaks, steps 1 to 8/));
    expect(range()?.textContent).toContain('Steps 1 to 8');
    expect(titles().some(title => title?.includes('not compiled any more'))).toBe(false);
  });

  test('when there is none, then the headings count all events', async () => {
    await open(troubled());
    const counts = ['Graph breaks', 'Recompilations'].map(
      name => screen.getByRole('heading', { name }).parentElement?.querySelector('.stc-Count')?.textContent
    );
    expect(counts).toEqual(['2', '14']);
    expect(document.querySelectorAll('.stc-Event-title[aria-pressed="true"]')).toHaveLength(0);
  });

  test('when a recompilation is picked, then its row unfolds', async () => {
    const { user } = await open(troubled());
    await user.click(mark(/^Recompiled, step 3/));
    expect(rows().map(row => row.dataset['id'])).toEqual(['r2', 'h2']);
    expect(rows().map(row => row.ariaExpanded)).toEqual(['true', 'false']);
    expect(document.querySelector('.stc-Table-details')?.textContent).toContain('self.seen: 1 → 2');
  });

  test('when it is taken back by its chip, then all events are there', async () => {
    const { user, model } = await open(troubled());
    await user.click(mark(/^Breaks, step 1:/));
    await user.click(range() as HTMLElement);
    expect(range()).toBeNull();
    expect([rows().length, model.selection.event]).toEqual([14, null]);
  });

  test('when it is drawn with the pointer, then the chip names its steps', async () => {
    const { container } = await open(troubled());
    const picture = container.querySelector('.stc-Timeline-plot svg') as Element;
    fireEvent.pointerDown(picture, { clientX: 0, button: 0 });
    fireEvent.pointerMove(picture, { clientX: 250 });
    fireEvent.pointerUp(picture, { clientX: 250 });
    expect(range()?.textContent).toMatch(/^Steps 1 to \d/);
  });

  test('when a card is pressed, then its event is picked out in the timeline; again, and it is not', async () => {
    const { user, model } = await open(troubled());
    const title = within(card(/item/)).getByRole('button', { name: /Tensor.item/ });
    await user.click(title);
    expect(model.selection.event).toBe('b-item');
    expect(mark(/^Breaks, step 1:/).getAttribute('aria-pressed')).toBe('true');
    await user.click(title);
    expect(model.selection.event).toBeNull();
  });
});

describe('given only some kinds', () => {
  const only = (part: 'breaks' | 'recompilations' | 'limits'): Report =>
    changed(report => {
      for (const other of ['breaks', 'recompilations', 'limits'] as const) {
        if (other !== part) {
          report.compile[other] = [];
        }
      }
    });

  test('when there are only breaks, then no other lane, and that every guard held', async () => {
    const { container } = await open(only('breaks'));
    expect(container.querySelector('.stc-Breaks-sentence')?.textContent).toBe('2 lines break the graph.');
    expect(container.querySelectorAll('.stc-Timeline-lanes > div')).toHaveLength(1);
    expect(container.textContent).toContain('Every guard held: nothing was compiled again.');
  });

  test('when there are only recompilations, then that every function went through', async () => {
    const { container } = await open(only('recompilations'));
    expect(container.textContent).toContain('Every function that was compiled went through as a whole.');
  });

  test('when the run goes on, then only so far', async () => {
    const report = only('recompilations');
    report.run.status = 'running';
    const { container } = await open(report);
    expect(container.textContent).toContain('None so far.');
  });

  test('when the step of none is known, then no timeline, and how many there are', async () => {
    const report = only('recompilations');
    report.compile.recompilations.forEach(one => (one.step = null));
    const { container } = await open(report);
    expect(container.querySelector('.stc-Timeline')).toBeNull();
    expect(container.textContent).toContain('Of 14 events it is not known in which step they were.');
    expect(rows()[0].lastElementChild?.textContent).toBe('–');
  });
});

describe('given a break', () => {
  const withBreak = (changes: Partial<Break>): Report =>
    changed(report => {
      report.compile.breaks = [{ ...report.compile.breaks[0], ...changes }];
    });

  test('when its function stayed eager as a whole, then that is said', async () => {
    await open(withBreak({ kind: 'frame-skipped' }));
    expect(card(/item/).textContent).toContain('The whole function stayed eager.');
  });

  test('when its kind is of a newer version, then it is shown as a break', async () => {
    await open(withBreak({ kind: 'new-kind' as Break['kind'] }));
    expect(card(/item/).textContent).not.toContain('stayed eager');
  });

  test('when it happened once in one step, then in the singular', async () => {
    await open(withBreak({ count: 1, steps: [4] }));
    expect(card(/item/).textContent).toContain('1 timestep 5');
  });

  test('when it happened ten times in one step, then that step is named once', async () => {
    await open(withBreak({ count: 10, steps: Array<number>(10).fill(4) }));
    expect(card(/item/).textContent).toContain('10 timesstep 5');
  });

  test('when neither place, stack, hints nor words of torch were recorded, then nothing empty is shown', async () => {
    await open(withBreak({ location: null, stack: [], hints: [], detail: null, steps: [] }));
    expect(card(/item/).querySelector('details')).toBeNull();
    expect(card(/item/).querySelector('.stc-Chip')).toBeNull();
  });

  test('when its line lies in a file, then its chip says file and line', async () => {
    const location = place({ file: 'nets/digits.py', cell: null, cell_id: null, notebook: null, line: 3 });
    await open(withBreak({ location }));
    expect(
      within(card(/item/)).getAllByRole('button', { name: 'Go to nets/digits.py, line 3' })[0].textContent
    ).toBe('digits.py : 3');
  });
});

describe('given nothing to show', () => {
  const said = async (report: Report): Promise<string> => {
    const { container } = await open(report);
    return container.querySelector('.stc-Empty')?.textContent ?? '';
  };

  test('when all went well, then that is what it says', async () => {
    expect(await said(healthy())).toBe(
      'No breaks, nothing compiled twiceIts 3 graphs were compiled once and served the whole run.'
    );
    expect(screen.getByText("2 of torch's own, harmless")).toBeTruthy();
  });

  test('when the run goes on, then so far', async () => {
    expect(await said(running())).toBe('No breaks so far1 graph is compiled; no guard has failed.');
  });

  test('when it was left eager, then the decision and its reason', async () => {
    expect(await said(leftEager())).toBe(`Left eager${leftEager().compile.decision?.reason}`);
  });

  test('when it was asked to leave all as it is, then that', async () => {
    const report = changed(one => {
      one.compile.decision = null;
    }, leftEager());
    expect(await said(report)).toContain('its plan is eager');
  });

  test('when the compiler failed, then on what and with which error', async () => {
    const report = changed(one => {
      one.compile.graphs = [];
      one.compile.breaks = [];
      one.compile.recompilations = [];
      one.compile.limits = [];
    });
    expect(await said(report)).toBe(
      'Compiling failedThe compiler gave up on critic and training went on eager. InternalTorchDynamoError: cannot trace <lambda> in Critic<T>.forward'
    );
  });

  test('when nothing is compiled yet, then what is being done', async () => {
    const report = changed(one => {
      one.compile.graphs = [];
    }, running());
    expect(await said(report)).toBe('Nothing is compiled yetCompiling graph 2 (backward): C++ compiler');
  });

  test('when there was no model, then the finding’s words', async () => {
    expect(await said(empty())).toBe(
      'Nothing was compiledNothing was compiled: no model was called in this run.'
    );
  });

  test.each([
    ['no unit', (one: Report) => (one.compile.units = []), 'No model was called in this run.'],
    [
      'a unit with a reason',
      (one: Report) => (one.compile.units[0].reason = 'It was in a no_grad block.'),
      'no_grad'
    ],
    ['units without one', () => undefined, 'The record does not say why.']
  ])('when there is no finding, and %s, then what is known of it', async (_, change, words) => {
    const report = changed(one => {
      one.findings = [];
      one.compile.graphs = [];
      one.compile.breaks = [];
      one.compile.units = one.compile.units.map(unit => ({ ...unit, reason: null }));
      change(one);
    }, healthy());
    expect(await said(report)).toContain(words);
  });
});
