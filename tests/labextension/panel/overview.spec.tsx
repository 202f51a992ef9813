/** The first thing one sees of a run. */
import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';

import { THIN, UNKNOWN } from '../../../labextension/src/format';
import { Report } from '../../../labextension/src/records';
import { another, empty, healthy, leftEager, running, troubled } from '../reports';
import { NARROW, navigatorOf, openPanel, WIDE } from '../wholepanel';

/** The figures by their names, as they are written. */
const figures = (): Record<string, string> =>
  Object.fromEntries(
    [...document.querySelectorAll('.stc-Figures > div')].map(part => [
      part.querySelector('dt')?.textContent,
      part.querySelector('dd')?.textContent
    ])
  );
const section = (name: string): HTMLElement => screen.getByRole('region', { name });
const findings = (): HTMLElement[] => [...section('Findings').querySelectorAll<HTMLElement>('.stc-Finding')];
const isOpen = (): boolean[] => findings().map(one => one.querySelector('.stc-Finding-body') !== null);
const chosenEvents = (): (string | null)[] =>
  [...document.querySelectorAll('.stc-Event-title[aria-pressed="true"]')].map(title => title.textContent);
const details = async (name: string): Promise<string> => {
  const figure = [...document.querySelectorAll('.stc-Figures > div')]
    .find(part => part.querySelector('dt')?.textContent === name)
    ?.querySelector<HTMLElement>('.stc-Figure');
  act(() => figure?.focus());
  return (await screen.findByRole('tooltip')).textContent ?? '';
};
const grown = (report: Report, change: (report: Report) => void): Report => {
  change(report);
  return report;
};

describe('the sentence and its figures', () => {
  test('given a run that trains faster, then how much, at what cost and when it paid', async () => {
    await openPanel([healthy()]);
    expect(document.querySelector('.stc-Headline-says')?.textContent).toBe(healthy().headline);
    expect(figures()).toEqual({
      'Eager step': `18.5${THIN}ms`,
      'Compiled step': `14.0${THIN}ms`,
      'Speed-up': `1.32× ±3${THIN}%`,
      Compiling: `20.9${THIN}s`,
      'Pays after': '4,738 steps',
      Steps: '8,400',
      Kernels: '14 in 3 graphs',
      'Wall time': `2${THIN}min 20${THIN}s`
    });
  });

  test('given a figure, when it has the focus, then n, spread and definition are said', async () => {
    await openPanel([healthy()]);
    const said = await details('Eager step');
    expect(said).toContain('Median time of a step while the models ran eager');
    expect(said).toContain(`n = 5, 95th percentile 18.8${THIN}ms`);
    expect(said).toContain(`95 % interval of the median: 18.0${THIN}ms to 18.9${THIN}ms`);
  });

  test('given steps that were left out, then how many and why is said', async () => {
    await openPanel([healthy()]);
    const said = await details('Steps');
    expect(said).toContain('A step ends with: optimizer update.');
    expect(said).toContain(
      'Left out of the statistics: 3 (1 compiling, 2 warm-up, 0 partly compiled, 0 unfinished).'
    );
  });

  test('given no speed-up, then a dash and not a zero, and why', async () => {
    await openPanel([troubled()]);
    expect(figures()).toMatchObject({
      'Eager step': UNKNOWN,
      'Compiled step': UNKNOWN,
      'Speed-up': UNKNOWN,
      'Pays after': UNKNOWN
    });
    expect(await details('Speed-up')).toContain('After the recompile limit a step is partly eager');
  });

  test('given a speed-up whose interval is wide, then both its ends are said', async () => {
    await openPanel([
      grown(healthy(), report => {
        report.steps.speedup = { ratio: 1.5, low: 0.8, high: 2.5 };
      })
    ]);
    expect(figures()['Speed-up']).toBe('1.50× 0.800× to 2.50×');
  });

  test('given a run that goes on, then for how long, counting', async () => {
    const report = running();
    report.run.started_at = Date.now() / 1000 - 65;
    const { container } = await openPanel([report]);
    expect(container.querySelector('.stc-Headline-live')?.textContent).toMatch(/^Running for 1:\d\d$/);
    expect(figures()['Wall time']).toMatch(/^1:\d\d$/);
  });

  test('given a run that is lost, then its wall time is not known, and nothing counts on', async () => {
    const report = another(running(), 'lost', {
      status: 'lost',
      partial: true,
      partial_reason: 'Its process died.'
    });
    const { container } = await openPanel([report]);
    expect(figures()['Wall time']).toBe(UNKNOWN);
    expect(container.querySelector('.stc-Headline-live')?.textContent).toBe('');
    expect(screen.getByText('Its process died.')).toBeTruthy();
  });

  test('given an error of the user, then what and where, and the place leads there', async () => {
    const navigator = navigatorOf('shown');
    const { user, container } = await openPanel([troubled()], { navigator });
    const head = container.querySelector<HTMLElement>('.stc-Headline') as HTMLElement;
    expect(head.textContent).toContain(
      'RuntimeError: The size of tensor a (16) must match the size of tensor b (<b>9</b>)'
    );
    expect(head.textContent).toContain('The run ended with an error in step 212.');
    await user.click(within(head).getByRole('button', { name: 'Go to In[3], line 5' }));
    expect(navigator.open).toHaveBeenCalledExactlyOnceWith(troubled().run.failure?.location);
  });
});

describe('the findings', () => {
  test('given many, then the worst three, the worst one open, and the rest on demand', async () => {
    const { user } = await openPanel([troubled()]);
    expect(findings()).toHaveLength(3);
    expect(isOpen()).toEqual([true, false, false]);
    await user.click(screen.getByRole('button', { name: 'Show 5 more' }));
    expect(findings()).toHaveLength(8);
    await user.click(screen.getByRole('button', { name: 'Show fewer' }));
    expect(findings()).toHaveLength(3);
  });

  test('given only a note, then it is folded', async () => {
    await openPanel([leftEager()]);
    expect(isOpen()).toEqual([false]);
  });

  test('given none, then that is said: after the run as a good sign, during it as so far', async () => {
    const { unmount } = await openPanel([healthy()]);
    expect(section('Findings').textContent).toContain('Nothing stands in the way');
    unmount();
    await openPanel([running()]);
    expect(section('Findings').textContent).toContain('Nothing to report so far.');
  });

  test('given one that was folded by hand, when the run goes on, then it stays folded and another stays open', async () => {
    const { user, server, container } = await openPanel([troubled()]);
    await user.click(within(findings()[0]).getByRole('button', { expanded: true }));
    await user.click(within(findings()[1]).getByRole('button', { name: /compiler failed/ }));
    expect(isOpen()).toEqual([false, true, false]);
    const { id } = troubled().run;
    server.reports.set(
      id,
      grown(troubled(), report => {
        report.headline = 'Another sentence.';
        report.findings[0].evidence[4].value = 999;
        report.findings.splice(1, 0, { ...report.findings[3], code: 'new-one', message: 'A new one.' });
      })
    );
    act(() => server.changed(id));
    await waitFor(() => expect(container.textContent).toContain('Another sentence.'));
    expect(isOpen()).toEqual([false, false, true]);
  });

  test('given one about a break, when it is to be shown, then the view of breaks opens with it picked out', async () => {
    const { user, model } = await openPanel([troubled()]);
    const card = findings()[2];
    await user.click(within(card).getByRole('button', { name: /graph breaks at/ }));
    await user.click(within(card).getByRole('button', { name: 'Show in Breaks & recompilations' }));
    expect([model.tab, model.selection.event]).toEqual(['breaks', troubled().findings[2].subject]);
    expect(chosenEvents()).toEqual(['Tensor.item() reads a value on the host']);
  });

  test('given the recompile limit, when it is to be shown, then the view of breaks opens with the limit picked out', async () => {
    const { user, model } = await openPanel([troubled()]);
    await user.click(within(findings()[0]).getByRole('button', { name: 'Show in Breaks & recompilations' }));
    expect(model.tab).toBe('breaks');
    expect(chosenEvents()).toEqual(['Regressor.forward is not compiled any more from call 9 on']);
  });

  test('given one about nothing in particular, then no view is promised', async () => {
    await openPanel([empty()]);
    expect(screen.queryByRole('button', { name: /Show in/ })).toBeNull();
  });
});

describe('times and facts', () => {
  test('given steps, then their chart; given none, why there is none', async () => {
    const { unmount } = await openPanel([healthy()]);
    expect(within(section('Step times')).getByRole('img', { name: /Time of each step/ })).toBeTruthy();
    unmount();
    await openPanel([empty()]);
    expect(section('Step times').textContent).toContain('No training step was seen');
  });

  test('given a run that has only begun, then the chart waits for its first step', async () => {
    await openPanel([
      grown(running(), report => {
        report.steps.series = { index: [], start_s: [], duration_s: [], kind: '', decimated: false };
      })
    ]);
    expect(section('Step times').textContent).toContain('No step has ended yet.');
  });

  test('given compile phases, then their bar; given none, then nothing was compiled', async () => {
    const { unmount } = await openPanel([healthy()]);
    expect(within(section('Compile time')).getByRole('table').textContent).toContain('C++ compiler');
    unmount();
    await openPanel([leftEager()]);
    expect(section('Compile time').textContent).toContain('Nothing has been compiled.');
  });

  test('given models and optimizers, then how each was run and why', async () => {
    await openPanel([
      grown(troubled(), report => {
        report.compile.units[0].reason = 'Asked to be restored.';
      })
    ]);
    const [model, critic, opt] = within(section('Models and optimizers')).getAllByRole('listitem');
    expect(model.textContent).toContain(
      '577 parameters · compiled; restored afterwards Asked to be restored.'
    );
    expect(critic.textContent).toContain('critic Critic<T> 33 parameters · the compiler failed; eager');
    expect(opt.textContent).not.toContain('parameters');
  });

  test('given no models, then no heading stands over nothing', async () => {
    await openPanel([empty()]);
    expect(screen.queryByRole('region', { name: 'Models and optimizers' })).toBeNull();
  });

  test('given the environment, then it is folded, and has what was set and no options that were not', async () => {
    const { container, user } = await openPanel([healthy()]);
    const box = container.querySelector('details.stc-Section') as HTMLDetailsElement;
    expect(box.open).toBe(false);
    await user.click(screen.getByText('Environment and options'));
    expect(box.open).toBe(true);
    const facts = Object.fromEntries(
      [...box.querySelectorAll('.stc-Facts > div')].map(fact =>
        [...fact.children].map(part => part.textContent)
      )
    ) as Record<string, string>;
    expect(facts).toMatchObject({
      Run: healthy().run.id,
      PyTorch: '2.13.0',
      '--precision': 'keep',
      GPUs: 'none'
    });
    expect(facts).not.toHaveProperty('--plan');
  });

  test.each([
    [NARROW, 0],
    [WIDE, 1]
  ])('given %d px, then %d divider and all of it', async (width, dividers) => {
    await openPanel([healthy()], { width });
    expect(screen.queryAllByRole('separator')).toHaveLength(dividers);
    for (const name of ['Findings', 'Step times', 'Compile time', 'Models and optimizers']) {
      expect(section(name)).toBeTruthy();
    }
  });
});
