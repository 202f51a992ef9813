/** Breaks, recompilations and limits as moments on the steps, and the finding that belongs to each. */
import { describe, expect, test } from 'vitest';

import {
  changeWords,
  eventsOf,
  findingsOf,
  inRange,
  limitId,
  momentsOf,
  stepList,
  subjectsOf,
  unplaced
} from '../../../../labextension/src/panel/breaks/events';
import { Limit, Recompilation, Report } from '../../../../labextension/src/records';
import { healthy, place, troubled } from '../../reports';
import { trans } from '../../view';

const EVENTS = eventsOf(troubled());
const [LIMIT] = EVENTS.limits;

describe('the events of a report', () => {
  test("given torch's own breaks, then they are apart from those that somebody can take out", () => {
    expect(EVENTS.breaks.map(({ id }) => id)).toEqual(['b-item', 'b-if']);
    expect(EVENTS.benignBreaks.map(({ id }) => id)).toEqual(['b-opt']);
    expect(EVENTS.recompilations).toHaveLength(14);
    expect(eventsOf(healthy()).breaks).toEqual([]);
  });

  test('given a break in eight steps, then eight moments; a recompilation and a limit have one', () => {
    const moments = momentsOf(EVENTS, trans);
    expect(moments.filter(({ id }) => id === 'b-item').map(({ step }) => step)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7
    ]);
    expect(moments.filter(({ lane }) => lane === 'recompilation')).toHaveLength(14);
    expect(moments.filter(({ lane }) => lane === 'limit')).toEqual([
      {
        id: limitId(LIMIT),
        lane: 'limit',
        step: 8,
        name: 'Regressor.forward is not compiled any more'
      }
    ]);
  });

  test('given a recompilation, then its moment says what changed; where that is not known, the guard', () => {
    const [first] = EVENTS.recompilations;
    const name = (changes: Partial<Recompilation>): string | undefined =>
      momentsOf({ ...EVENTS, recompilations: [{ ...first, ...changes }] }, trans).find(
        ({ id }) => id === first.id
      )?.name;
    expect(name({})).toBe('self.seen, 0 → 1');
    expect(name({ before: null, after: null })).toBe('self.seen == 1');
    expect(name({ source: null })).toBe('self.seen == 1, 0 → 1');
  });

  test('given events of which the step is not known, then they are counted and have no moment', () => {
    const lost = {
      ...EVENTS,
      breaks: [{ ...EVENTS.breaks[0], steps: [] }],
      recompilations: [{ ...EVENTS.recompilations[0], step: null }],
      limits: [{ ...LIMIT, step: null }]
    };
    expect(unplaced(lost)).toBe(3);
    expect(momentsOf(lost, trans)).toEqual([]);
    expect(unplaced(EVENTS)).toBe(0);
  });
});

describe('what changed', () => {
  test.each([
    ['32', '6', '32 → 6'],
    [null, '6', '? → 6'],
    ['32', null, '32 → ?'],
    [null, null, null]
  ])('given %s before and %s after, then %s', (before, after, words) => {
    expect(changeWords({ ...EVENTS.recompilations[0], before, after })).toBe(words);
  });
});

describe('a range of steps', () => {
  test('given none, then all events', () => {
    expect(inRange(EVENTS, null)).toBe(EVENTS);
  });

  test('given one, then the events of these steps, both ends included, and torch’s own as before', () => {
    const some = inRange(EVENTS, { from: 7, to: 8 });
    expect(some.breaks).toHaveLength(2);
    expect(some.recompilations.map(({ step }) => step)).toEqual([7, 7]);
    expect(some.limits).toHaveLength(1);
    expect(some.benignBreaks).toEqual(EVENTS.benignBreaks);
    expect(inRange(EVENTS, { from: 9, to: 200 })).toMatchObject({
      breaks: [],
      recompilations: [],
      limits: []
    });
  });

  test('given events without a step, then they are in no range', () => {
    const lost = { ...EVENTS, recompilations: [{ ...EVENTS.recompilations[0], step: null }] };
    expect(inRange(lost, { from: 0, to: 1000 }).recompilations).toEqual([]);
  });
});

describe('the finding of an event', () => {
  test('given findings, then each is with the event that it is about', () => {
    const found = findingsOf(troubled());
    expect(found.get('b-item')?.message).toContain('history.append');
    expect(found.get('h1')?.code).toBe('recompilation');
    expect(found.get(limitId(LIMIT))?.code).toBe('recompile-limit');
    expect(found.get('b-opt')).toBeUndefined();
  });

  test('given findings about a model, an option or the run, then they are about no event', () => {
    const report = troubled();
    const about = Object.fromEntries(
      report.findings.map(finding => [finding.code, subjectsOf(finding, report)])
    );
    expect(about).toMatchObject({ 'compile-failed': [], 'option-without-effect': [], 'run-partial': [] });
  });

  /** The rest of `forward` after a break has reached the limit as well: its name contains the other's. */
  function twoLimits(): { report: Report; rest: Limit } {
    const report = troubled();
    const [limit] = report.compile.limits;
    const rest: Limit = {
      ...limit,
      function: 'Regressor.forward (from line 17)',
      guard: 'len(history) == 8',
      location: place({ file: 'In[1]', line: 19 })
    };
    report.compile.limits = [limit, rest];
    report.findings.splice(1, 0, {
      ...report.findings[0],
      message:
        'The rest of `Regressor.forward` after line 17 is not compiled any more from call 9 on: `len(history) == 8` changed each time.',
      location: rest.location,
      subject: 'h7'
    });
    return { report, rest };
  }

  test('given two functions at the limit, one named in other words, then each has its own finding', () => {
    const { report, rest } = twoLimits();
    const found = findingsOf(report);
    expect(found.get(limitId(LIMIT))).toBe(report.findings[0]);
    expect(found.get(limitId(rest))).toBe(report.findings[1]);
  });

  test('given one function at the limit by two guards, then these are two events', () => {
    expect(limitId(LIMIT)).not.toBe(limitId({ ...LIMIT, guard: 'another' }));
  });

  test('given a limit of which neither place nor guard is known, then its finding is found all the same', () => {
    const report = troubled();
    report.compile.limits = [{ ...LIMIT, location: null, guard: null }];
    report.findings[0].location = null;
    expect(findingsOf(report).get(limitId(report.compile.limits[0]))).toBe(report.findings[0]);
  });
});

describe('steps in words', () => {
  test.each([
    [[0], '1'],
    [[0, 1, 2, 5], '1–3, 6'],
    [[5, 2, 1, 0, 1], '1–3, 6'],
    [[999, 1000], '1,000–1,001'],
    [[], ''],
    [[0, 2, 4, 6, 8, 10, 12], '1, 3, 5, 7, 9, 11, …']
  ])('given %j, then "%s"', (steps, words) => {
    expect(stepList(steps)).toBe(words);
  });
});
