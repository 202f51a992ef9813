/** Why a run has no graphs, in words: an empty view says what happened instead of only being empty. */
import { TranslationBundle } from '@jupyterlab/translation';

import { Report } from '../records';

export interface INothing {
  title: string;
  reason: string;
}

/** For a report without graphs. */
export function whyNothing(report: Report, trans: TranslationBundle): INothing {
  const { run, compile } = report;
  const failed = compile.units.find(unit => unit.state === 'failed');
  if (compile.decision?.action === 'leave-eager') {
    return { title: trans.__('Left eager'), reason: compile.decision.reason };
  }
  if (run.plan === 'eager') {
    return {
      title: trans.__('Left eager'),
      reason: trans.__('This run was asked to leave everything as it is: its plan is eager.')
    };
  }
  if (failed) {
    const why = failed.failure ? `${failed.failure.type}: ${failed.failure.message}` : failed.reason;
    return {
      title: trans.__('Compiling failed'),
      reason: why
        ? trans.__('The compiler gave up on %1 and training went on eager. %2', failed.name, why)
        : trans.__('The compiler gave up on %1 and training went on eager.', failed.name)
    };
  }
  if (run.status === 'running') {
    return {
      title: trans.__('Nothing is compiled yet'),
      reason: run.progress?.message ?? trans.__('Graphs appear here as soon as the first is compiled.')
    };
  }
  const finding = report.findings.find(one => one.code === 'nothing-compiled');
  if (finding) {
    return { title: trans.__('Nothing was compiled'), reason: finding.message };
  }
  return {
    title: trans.__('Nothing was compiled'),
    reason:
      compile.units.length === 0
        ? trans.__('No model was called in this run.')
        : (compile.units.find(unit => unit.reason)?.reason ?? trans.__('The record does not say why.'))
  };
}
