/** The first thing one sees of a run: one sentence, its figures, what is wrong and what to do, where the time went. */
import React from 'react';

import { Elapsed } from '../components/clock';
import { usePanel } from '../components/context';
import { FindingCard, findingKey } from '../components/finding';
import { LocationChip } from '../components/chip';
import { Figure } from '../components/number';
import { SplitPane } from '../components/splitpane';
import { Words } from '../components/words';
import { bytes, count, duration, ratio, spread, UNKNOWN } from '../format';
import { Report, Timing } from '../records';
import { IViewProps, Tab } from '../tokens';
import { subjectsOf } from './breaks/events';
import { PhaseBar } from './phases';
import { StepChart } from './stepchart';

/** Findings that are open at first: the worst one or two. */
const OPEN_AT_FIRST = 1;
const SHOWN_AT_FIRST = 3;

export interface IOverviewProps extends IViewProps {
  theme: string;
  onTab: (tab: Tab) => void;
}

export function Overview(props: IOverviewProps): JSX.Element {
  const { report, width } = props;
  const first = (
    <>
      <Headline report={report} />
      <Figures report={report} />
      <Findings {...props} />
    </>
  );
  const charts = (
    <>
      <StepTimes {...props} />
      <CompileTime report={report} />
    </>
  );
  const facts = (
    <>
      <Models report={report} />
      <Environment report={report} />
    </>
  );
  if (width === 'narrow') {
    return (
      <div className="stc-Overview">
        {first}
        {charts}
        {facts}
      </div>
    );
  }
  return (
    <SplitPane
      name="overview"
      stacked={false}
      first={
        <div className="stc-Overview">
          {first}
          {facts}
        </div>
      }
      second={<div className="stc-Overview">{charts}</div>}
    />
  );
}

function Headline({ report }: { report: Report }): JSX.Element {
  const { trans } = usePanel();
  const { run } = report;
  return (
    <header className="stc-Headline">
      <p className="stc-Headline-says">
        <Words text={report.headline} />
      </p>
      <p className="stc-Headline-live" aria-hidden={run.status !== 'running'}>
        {run.status === 'running' && (
          <>
            {trans.__('Running for')} <Elapsed from={run.started_at} />
          </>
        )}
      </p>
      {run.partial && run.partial_reason && <p className="stc-Note stc-mod-warning">{run.partial_reason}</p>}
      {run.failure && (
        <p className="stc-Note stc-mod-warning">
          <code>{run.failure.type}</code>: {run.failure.message}{' '}
          {run.failure.location && <LocationChip location={run.failure.location} />}
        </p>
      )}
    </header>
  );
}

function Figures({ report }: { report: Report }): JSX.Element {
  const { trans } = usePanel();
  const { steps, compile, run } = report;
  const { speedup, break_even: even } = steps;
  const timing = (of: Timing | null): string[] =>
    of === null
      ? []
      : [
          trans.__('n = %1, 95th percentile %2', count(of.n), duration(of.p95_s)),
          ...(of.median_low_s !== null && of.median_high_s !== null
            ? [
                trans.__(
                  '95 %% interval of the median: %1 to %2',
                  duration(of.median_low_s),
                  duration(of.median_high_s)
                )
              ]
            : [])
        ];
  const unknown = (reason: string | null): string[] => (reason ? [reason] : []);
  const kernels = compile.graphs.reduce((sum, graph) => sum + graph.kernels.length, 0);
  return (
    <dl className="stc-Figures">
      <div>
        <dt>{trans.__('Eager step')}</dt>
        <dd>
          <Figure
            focusable
            text={duration(steps.eager?.median_s)}
            name="steps.eager.median_s"
            details={timing(steps.eager)}
          />
        </dd>
      </div>
      <div>
        <dt>{trans.__('Compiled step')}</dt>
        <dd>
          <Figure
            focusable
            text={duration(steps.compiled?.median_s)}
            name="steps.compiled.median_s"
            details={timing(steps.compiled)}
          />
        </dd>
      </div>
      <div>
        <dt>{trans.__('Speed-up')}</dt>
        <dd>
          <Figure
            focusable
            text={speedup ? ratio(speedup.ratio) : UNKNOWN}
            name="steps.speedup.ratio"
            details={
              speedup
                ? [trans.__('95 %% interval: %1 to %2', ratio(speedup.low), ratio(speedup.high))]
                : unknown(steps.speedup_reason)
            }
          />
          {speedup && <small> {spread(speedup.ratio, speedup.low, speedup.high)}</small>}
        </dd>
      </div>
      <div>
        <dt>{trans.__('Compiling')}</dt>
        <dd>
          <Figure focusable text={duration(compile.total_s)} name="compile.total_s" />
        </dd>
      </div>
      <div>
        <dt>{trans.__('Pays after')}</dt>
        <dd>
          <Figure
            focusable
            text={even?.step ? trans.__('%1 steps', count(even.step)) : UNKNOWN}
            name="steps.break_even.step"
            details={unknown(even?.reason ?? null)}
          />
        </dd>
      </div>
      <div>
        <dt>{trans.__('Steps')}</dt>
        <dd>
          <Figure
            focusable
            text={count(steps.total)}
            name="steps.total"
            details={[
              ...(steps.definition ? [trans.__('A step ends with: %1.', steps.definition)] : []),
              trans.__(
                'Left out of the statistics: %1 (%2 compiling, %3 warm-up, %4 partly compiled, %5 unfinished).',
                count(steps.excluded.count),
                count(steps.excluded.compiling),
                count(steps.excluded.warm_up),
                count(steps.excluded.mixed),
                count(steps.excluded.incomplete)
              )
            ]}
          />
        </dd>
      </div>
      <div>
        <dt>{trans.__('Kernels')}</dt>
        <dd>
          <Figure focusable text={count(kernels)} name="compile.kernels.count" />{' '}
          <small>
            <Figure
              focusable
              text={trans._n('in %1 graph', 'in %1 graphs', compile.graphs.length)}
              name="compile.graphs.count"
            />
          </small>
        </dd>
      </div>
      <div>
        <dt>{trans.__('Wall time')}</dt>
        <dd>
          {run.wall_s === null && run.status === 'running' ? (
            <Elapsed from={run.started_at} />
          ) : (
            <Figure focusable text={duration(run.wall_s)} name="run.wall_s" />
          )}
        </dd>
      </div>
    </dl>
  );
}

function Findings({ report, trans, onTab, onSelect }: IOverviewProps): JSX.Element {
  const [toggled, setToggled] = React.useState<ReadonlyMap<string, boolean>>(new Map());
  const [all, setAll] = React.useState(false);
  const { findings } = report;
  const shown = all ? findings : findings.slice(0, SHOWN_AT_FIRST);
  return (
    <section className="stc-Section" aria-label={trans.__('Findings')}>
      <h3 className="stc-Section-head">
        {trans.__('Findings')} <span className="stc-Count">{count(findings.length)}</span>
      </h3>
      {findings.length === 0 ? (
        <p className="stc-Note">
          {report.run.status === 'running'
            ? trans.__('Nothing to report so far.')
            : trans.__('Nothing stands in the way: no graph breaks, no recompilations, nothing left out.')}
        </p>
      ) : (
        <ul className="stc-Findings">
          {shown.map((finding, index) => {
            const key = findingKey(finding);
            const open = toggled.get(key) ?? (index < OPEN_AT_FIRST && finding.severity !== 'info');
            const [event] = subjectsOf(finding, report);
            return (
              <FindingCard
                key={key}
                finding={finding}
                open={open}
                onToggle={() => setToggled(new Map(toggled).set(key, !open))}
                onShow={
                  event === undefined
                    ? undefined
                    : () => {
                        onSelect({ event });
                        onTab('breaks');
                      }
                }
                showLabel={trans.__('Show in Breaks & recompilations')}
              />
            );
          })}
        </ul>
      )}
      {findings.length > SHOWN_AT_FIRST && (
        <button type="button" className="stc-Link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? trans.__('Show fewer') : trans.__('Show %1 more', findings.length - SHOWN_AT_FIRST)}
        </button>
      )}
    </section>
  );
}

function StepTimes({ report, trans, theme }: IOverviewProps): JSX.Element {
  const { steps, run } = report;
  return (
    <section className="stc-Section" aria-label={trans.__('Step times')}>
      <h3 className="stc-Section-head">{trans.__('Step times')}</h3>
      {steps.series.index.length > 0 ? (
        <StepChart steps={steps} trans={trans} theme={theme} />
      ) : (
        <p className="stc-Note">
          {run.status === 'running'
            ? trans.__('No step has ended yet.')
            : trans.__(
                'No training step was seen: a step ends with an optimizer’s update or a backward pass.'
              )}
        </p>
      )}
    </section>
  );
}

function CompileTime({ report }: { report: Report }): JSX.Element {
  const { trans } = usePanel();
  const { phases, total_s: total } = report.compile;
  return (
    <section className="stc-Section" aria-label={trans.__('Compile time')}>
      <h3 className="stc-Section-head">
        {trans.__('Compile time')}{' '}
        <Figure className="stc-Count" text={duration(total)} name="compile.total_s" />
      </h3>
      {phases.length > 0 ? (
        <PhaseBar phases={phases} total={total} />
      ) : (
        <p className="stc-Note">{trans.__('Nothing has been compiled.')}</p>
      )}
    </section>
  );
}

function Models({ report }: { report: Report }): JSX.Element | null {
  const { trans } = usePanel();
  const { units } = report.compile;
  if (units.length === 0) {
    return null;
  }
  const states: Record<string, string> = {
    found: trans.__('found'),
    compiled: trans.__('compiled'),
    restored: trans.__('compiled; restored afterwards'),
    eager: trans.__('eager'),
    failed: trans.__('the compiler failed; eager')
  };
  return (
    <section className="stc-Section" aria-label={trans.__('Models and optimizers')}>
      <h3 className="stc-Section-head">{trans.__('Models and optimizers')}</h3>
      <ul className="stc-Units">
        {units.map(unit => (
          <li key={unit.id}>
            <code>{unit.name}</code> <span className="stc-Note">{unit.type}</span>{' '}
            {unit.parameters !== null && (
              <Figure text={trans.__('%1 parameters', count(unit.parameters))} name="units.parameters" />
            )}
            {' · '}
            {states[unit.state] ?? unit.state}
            {unit.reason && <span className="stc-Note"> {unit.reason}</span>}{' '}
            {unit.location && <LocationChip location={unit.location} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Environment({ report }: { report: Report }): JSX.Element {
  const { trans } = usePanel();
  const { run } = report;
  const { environment: at } = run;
  const rows: [string, string | null][] = [
    [trans.__('Run'), run.id],
    [trans.__('Target, plan'), `${run.target}, ${run.plan}`],
    ['PyTorch', at.torch],
    ['Python', at.python],
    ['STC', at.stc],
    [trans.__('Host'), at.host],
    [trans.__('System'), at.platform],
    [trans.__('Processor'), at.cpu],
    [trans.__('Cores, threads'), `${count(at.cpu_cores)}, ${count(at.threads)}`],
    [trans.__('Memory'), bytes(at.memory_bytes)],
    [trans.__('C++ compiler'), at.compiler],
    [trans.__('GPUs'), at.gpus.map(gpu => gpu.name).join(', ') || trans.__('none')],
    ...Object.entries(run.options)
      .filter(([, value]) => value !== null && value !== false)
      .map(([name, value]): [string, string] => [`--${name}`, String(value)])
  ];
  return (
    <details className="stc-Section stc-Details">
      <summary className="stc-Section-head">{trans.__('Environment and options')}</summary>
      <dl className="stc-Facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? UNKNOWN}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
