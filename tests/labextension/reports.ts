/**
 * The example reports of tests/fixtures/reports, as the server sends them. Each call gives a copy of its own.
 */
import { Location, Report, RunSummary } from '../../labextension/src/records';
import backwardCode from '../fixtures/reports/artefacts/healthy/graph-0_0-backward.py?raw';
import forwardCode from '../fixtures/reports/artefacts/healthy/graph-0_0-forward.py?raw';
import optimizerCode from '../fixtures/reports/artefacts/healthy/graph-1_0-optimizer.py?raw';
import emptyReport from '../fixtures/reports/empty.json';
import healthyReport from '../fixtures/reports/healthy.json';
import leftEagerReport from '../fixtures/reports/left_eager.json';
import runningReport from '../fixtures/reports/running.json';
import troubledReport from '../fixtures/reports/troubled.json';

const copy = (report: unknown): Report => structuredClone(report) as Report;

/** A CNN that trains faster compiled; three graphs, fourteen kernels. */
export const healthy = (): Report => copy(healthyReport);
/** Breaks, recompilations, the limit, a failed compiler, an error in the user's cell, HTML in names. */
export const troubled = (): Report => copy(troubledReport);
/** Goes on: one graph compiled, the second under way. */
export const running = (): Report => copy(runningReport);
/** Compiling could not pay. */
export const leftEager = (): Report => copy(leftEagerReport);
/** A cell without a model. */
export const empty = (): Report => copy(emptyReport);

export const ALL: readonly (readonly [string, () => Report])[] = [
  ['healthy', healthy],
  ['troubled', troubled],
  ['running', running],
  ['left_eager', leftEager],
  ['empty', empty]
];

/** The generated code of the healthy report, by artefact. */
export const CODE: Readonly<Record<string, string>> = {
  'graph-0_0-forward.py': forwardCode,
  'graph-0_0-backward.py': backwardCode,
  'graph-1_0-optimizer.py': optimizerCode
};

/** A report's line in the run list. */
export function summaryOf(report: Report): RunSummary {
  const of = (severity: string): number =>
    report.findings.filter(finding => finding.severity === severity).length;
  return {
    run: report.run,
    headline: report.headline,
    errors: of('error'),
    warnings: of('warning'),
    infos: of('info'),
    speedup: report.steps.speedup?.ratio ?? null
  };
}

/** The report of another run that went the same way. */
export function another(report: Report, id: string, changes: Partial<Report['run']> = {}): Report {
  return { ...report, run: { ...report.run, id, name: id, ...changes } };
}

/** A line of In[2] of digits.ipynb, unless something else is said. */
export function place(changes: Partial<Location> = {}): Location {
  return {
    file: 'In[2]',
    line: 12,
    cell: 2,
    cell_id: 'cell-2',
    notebook: 'digits.ipynb',
    path: null,
    column: 8,
    end_line: 12,
    end_column: 45,
    function: 'DigitsNet.forward',
    text: '        h = F.relu(self.norm1(self.conv1(x)))',
    ...changes
  };
}

/** What must appear as text and never as an element. */
export const HTML = '<img src=x onerror="window.stcWasHere = true"><b>bold</b>';
