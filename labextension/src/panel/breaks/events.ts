/** Breaks, recompilations and limits as moments on the steps, and the finding that belongs to each. */
import { TranslationBundle } from '@jupyterlab/translation';

import { IMoment, IStepRange } from '../../components/timeline';
import { Break, Finding, Limit, Recompilation, Report } from '../../records';

export const limitId = (limit: Limit): string => `limit:${limit.function}:${limit.guard ?? ''}`;

export interface IEvents {
  limits: readonly Limit[];
  breaks: readonly Break[];
  recompilations: readonly Recompilation[];
  /** torch's own, which cost next to nothing and which nobody can take out. */
  benignBreaks: readonly Break[];
  benignRecompilations: readonly Recompilation[];
}

export function eventsOf({ compile }: Report): IEvents {
  return {
    limits: compile.limits,
    breaks: compile.breaks.filter(one => !one.benign),
    recompilations: compile.recompilations.filter(one => !one.benign),
    benignBreaks: compile.breaks.filter(one => one.benign),
    benignRecompilations: compile.recompilations.filter(one => one.benign)
  };
}

export function changeWords({ before, after }: Recompilation): string | null {
  return before === null && after === null ? null : `${before ?? '?'} → ${after ?? '?'}`;
}

export function momentsOf({ limits, breaks, recompilations }: IEvents, trans: TranslationBundle): IMoment[] {
  return [
    ...breaks.flatMap(({ id, reason, steps }) =>
      steps.map(step => ({ id, lane: 'break', step, name: reason.replace(/`/g, '') }))
    ),
    ...recompilations.flatMap(one => {
      const change = changeWords(one);
      const name = change === null ? one.guard : trans.__('%1, %2', one.source ?? one.guard, change);
      return one.step === null ? [] : [{ id: one.id, lane: 'recompilation', step: one.step, name }];
    }),
    ...limits.flatMap(one =>
      one.step === null
        ? []
        : [
            {
              id: limitId(one),
              lane: 'limit',
              step: one.step,
              name: trans.__('%1 is not compiled any more', one.function)
            }
          ]
    )
  ];
}

/** Events of which it is not known in which step they were. */
export function unplaced({ limits, breaks, recompilations }: IEvents): number {
  return (
    breaks.filter(one => one.steps.length === 0).length +
    recompilations.filter(one => one.step === null).length +
    limits.filter(one => one.step === null).length
  );
}

const within = (step: number | null, { from, to }: IStepRange): boolean =>
  step !== null && step >= from && step <= to;

/** The events of some steps; all of them for null. */
export function inRange(events: IEvents, range: IStepRange | null): IEvents {
  return range === null
    ? events
    : {
        ...events,
        limits: events.limits.filter(one => within(one.step, range)),
        breaks: events.breaks.filter(one => one.steps.some(step => within(step, range))),
        recompilations: events.recompilations.filter(one => within(one.step, range))
      };
}

/** The finding about a limit quotes its place and its guard; the function it may put into other words. */
function isAbout({ code, message, location }: Finding, limit: Limit): boolean {
  return (
    code === 'recompile-limit' &&
    location?.file === limit.location?.file &&
    location?.line === limit.location?.line &&
    message.includes(limit.guard ?? '')
  );
}

/** Ids of the events that a finding is about; none where it is about something else. */
export function subjectsOf(finding: Finding, { compile }: Report): string[] {
  const limits = compile.limits.filter(limit => isAbout(finding, limit)).map(limitId);
  if (limits.length > 0) {
    return limits;
  }
  const events = [...compile.breaks, ...compile.recompilations];
  return events.filter(one => one.id === finding.subject).map(one => one.id);
}

/** Findings by the event they are about. */
export function findingsOf(report: Report): ReadonlyMap<string, Finding> {
  const found = new Map<string, Finding>();
  for (const finding of report.findings) {
    for (const id of subjectsOf(finding, report)) {
      if (!found.has(id)) {
        found.set(id, finding);
      }
    }
  }
  return found;
}

/** [0, 1, 2, 5] as "1 to 3, 6": steps count from 1 for people. */
export function stepList(steps: readonly number[], most = 6): string {
  const runs: [number, number][] = [];
  for (const step of [...new Set(steps)].sort((a, b) => a - b)) {
    const last = runs[runs.length - 1];
    if (last && step === last[1] + 1) {
      last[1] = step;
    } else {
      runs.push([step, step]);
    }
  }
  const words = runs
    .slice(0, most)
    .map(([low, high]) =>
      low === high
        ? (low + 1).toLocaleString('en')
        : `${(low + 1).toLocaleString('en')}–${(high + 1).toLocaleString('en')}`
    );
  return words.join(', ') + (runs.length > most ? ', …' : '');
}
