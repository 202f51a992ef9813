// Written by `jlpm types:generate` from python_pkg/stc/record/schema.json. Do not edit.

export interface Records {}
/**
 * Everything about one run; what ``stc show RUN --json`` prints.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Report".
 */
export interface Report {
  schema_version: number;
  run: Run;
  compile: Compile;
  steps: Steps;
  headline?: string;
  findings?: Finding[];
  sources?: Source[];
  artefacts?: string[];
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Run".
 */
export interface Run {
  id: string;
  name: string;
  status: 'completed' | 'failed' | 'interrupted' | 'lost' | 'running';
  origin: Origin;
  target: string;
  plan: string;
  started_at: number;
  environment: Environment;
  ended_at?: number | null;
  wall_s?: number | null;
  last_seen_at?: number | null;
  partial?: boolean;
  partial_reason?: string | null;
  failure?: Failure | null;
  options?: {
    [k: string]: string | number | boolean | null;
  };
  progress?: Progress | null;
}
/**
 * What started the run.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Origin".
 */
export interface Origin {
  kind: 'context' | 'function' | 'magic' | 'script';
  notebook?: string | null;
  cell?: number | null;
  cell_id?: string | null;
  script?: string | null;
  argv?: string[];
  pid?: number | null;
}
/**
 * Where the run took place.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Environment".
 */
export interface Environment {
  python: string;
  platform: string;
  stc: string;
  torch?: string | null;
  ipython?: string | null;
  host?: string | null;
  cpu?: string | null;
  cpu_cores?: number | null;
  threads?: number | null;
  memory_bytes?: number | null;
  compiler?: string | null;
  gpus?: Gpu[];
  packages?: {
    [k: string]: string;
  };
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Gpu".
 */
export interface Gpu {
  name: string;
  memory_bytes?: number | null;
  capability?: string | null;
}
/**
 * An exception: the user's (it ended the run) or of a compiler (training went on eager).
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Failure".
 */
export interface Failure {
  type: string;
  message: string;
  location?: Location | null;
}
/**
 * A place in the user's code. Lines count from 1, columns from 0 (None where Python did not record them).
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Location".
 */
export interface Location {
  file: string;
  line: number;
  cell?: number | null;
  cell_id?: string | null;
  notebook?: string | null;
  path?: string | null;
  column?: number | null;
  end_line?: number | null;
  end_column?: number | null;
  function?: string | null;
  text?: string | null;
}
/**
 * What is being done right now; only a running run has one.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Progress".
 */
export interface Progress {
  message: string;
  at: number;
  graph?: number | null;
  phase?: string | null;
  step?: number | null;
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Compile".
 */
export interface Compile {
  units?: Unit[];
  decision?: Decision | null;
  graphs?: Graph[];
  breaks?: Break[];
  recompilations?: Recompilation[];
  limits?: Limit[];
  phases?: Phase[];
  total_s?: number | null;
  gaps?: Gap[];
  ignored_options?: {
    [k: string]: string;
  };
}
/**
 * A model or optimizer that the run met.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Unit".
 */
export interface Unit {
  id: string;
  kind: 'model' | 'optimizer';
  name: string;
  type: string;
  state: 'compiled' | 'eager' | 'failed' | 'found' | 'restored';
  reason?: string | null;
  parameters?: number | null;
  location?: Location | null;
  calls?: number;
  failure?: Failure | null;
}
/**
 * Compile or leave eager, with the figures it was taken on.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Decision".
 */
export interface Decision {
  action: 'compile' | 'leave-eager';
  reason: string;
  eager_step_s?: number | null;
  compile_s?: number | null;
  compile_source?: string | null;
  remaining_steps?: number | null;
  remaining_source?: string | null;
  break_even_step?: number | null;
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Graph".
 */
export interface Graph {
  id: string;
  phase: 'backward' | 'forward' | 'inference' | 'joint' | 'optimizer';
  compile_id?: string | null;
  name?: string | null;
  location?: Location | null;
  cache?: CacheUse | null;
  dynamic?: boolean | null;
  compile_s?: number | null;
  step?: number | null;
  at?: number | null;
  ops?: Operation[];
  kernels?: Kernel[];
  bytes?: Bytes | null;
  not_fused?: NotFused[];
  folded?: Location[];
  code?: string | null;
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "CacheUse".
 */
export interface CacheUse {
  outcome: 'bypass' | 'hit' | 'miss' | 'off' | 'unknown';
  cache?: string | null;
  key?: string | null;
  reason?: string | null;
}
/**
 * One ATen (or prims) operation of a graph or kernel.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Operation".
 */
export interface Operation {
  name: string;
  location?: Location | null;
  node?: string | null;
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Kernel".
 */
export interface Kernel {
  id: string;
  name: string;
  kind: 'cpp' | 'fallback' | 'library' | 'other' | 'triton';
  ops?: Operation[];
  bytes_read?: number | null;
  bytes_written?: number | null;
  groups?: Group[];
  layout?: Layout[];
  code?: CodeRef | null;
  notes?: string[];
}
/**
 * One fused loop nest. A C++ kernel can hold several; only operations of one group are fused with each other.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Group".
 */
export interface Group {
  ops?: number[];
  nodes?: string[];
}
/**
 * A buffer that a kernel reads or writes.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Layout".
 */
export interface Layout {
  buffer: string;
  role: 'read' | 'write';
  dtype: string;
  shape: string[];
  stride: string[];
  format?: string | null;
  reason?: string | null;
}
/**
 * Lines (from 1, both ends included) of a text artefact of the run.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "CodeRef".
 */
export interface CodeRef {
  artefact: string;
  first_line: number;
  last_line: number;
}
/**
 * Bytes moved by one execution of a graph; a best-case model, not a measurement.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Bytes".
 */
export interface Bytes {
  eager?: number | null;
  decomposed?: number | null;
  fused?: number | null;
  notes?: string[];
}
/**
 * Why two neighbouring kernels (or groups) were not fused: one entry an edge.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "NotFused".
 */
export interface NotFused {
  first: string;
  second: string;
  reason: string;
  detail?: string | null;
  buffers?: string[];
  first_group?: number | null;
  second_group?: number | null;
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Break".
 */
export interface Break {
  id: string;
  reason: string;
  kind?: 'frame-skipped' | 'graph-break';
  location?: Location | null;
  stack?: Location[];
  hints?: string[];
  detail?: string | null;
  count?: number;
  steps?: number[];
  compile_ids?: string[];
  benign?: boolean;
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Recompilation".
 */
export interface Recompilation {
  id: string;
  function: string;
  guard: string;
  reason: string;
  kind?:
    | 'dtype'
    | 'global'
    | 'grad-mode'
    | 'identity'
    | 'length'
    | 'other'
    | 'shape'
    | 'training-mode'
    | 'type'
    | 'value';
  source?: string | null;
  dimension?: number | null;
  before?: string | null;
  after?: string | null;
  location?: Location | null;
  compile_id?: string | null;
  step?: number | null;
  call?: number | null;
  at?: number | null;
  benign?: boolean;
}
/**
 * Dynamo gave up on a function: too many recompilations.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Limit".
 */
export interface Limit {
  function: string;
  limit: number;
  guard?: string | null;
  location?: Location | null;
  step?: number | null;
  call?: number | null;
}
/**
 * Time the training thread spent in one phase of compiling, not counting phases inside it.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Phase".
 */
export interface Phase {
  name: string;
  label: string;
  self_s: number;
  count?: number;
}
/**
 * Something capture could not see, and why.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Gap".
 */
export interface Gap {
  part: string;
  reason: string;
  count?: number;
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Steps".
 */
export interface Steps {
  total?: number;
  definition?: string | null;
  eager?: Timing | null;
  compiled?: Timing | null;
  excluded?: Excluded;
  speedup?: Speedup | null;
  speedup_reason?: string | null;
  break_even?: BreakEven | null;
  series?: StepSeries;
}
/**
 * Statistics over n steps; p95 by linear interpolation.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Timing".
 */
export interface Timing {
  median_s: number;
  p95_s: number;
  mean_s: number;
  n: number;
  median_low_s?: number | null;
  median_high_s?: number | null;
}
/**
 * Steps left out of the statistics, by reason.
 */
export interface Excluded {
  count?: number;
  compiling?: number;
  warm_up?: number;
  mixed?: number;
  incomplete?: number;
}
/**
 * Median eager step time over median compiled step time, with a 95 % bootstrap interval.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Speedup".
 */
export interface Speedup {
  ratio: number;
  low: number;
  high: number;
}
/**
 * The step at which the compiled run has caught up with an eager one; None with a reason: never, or not known.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "BreakEven".
 */
export interface BreakEven {
  step?: number | null;
  reached?: boolean | null;
  reason?: string | null;
}
/**
 * One entry a step, in columns. kind: e eager, c compiled, x compiling, w warm-up, m mixed, i incomplete.
 */
export interface StepSeries {
  index?: number[];
  start_s?: number[];
  duration_s?: number[];
  kind?: string;
  decimated?: boolean;
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Finding".
 */
export interface Finding {
  code: string;
  severity: 'error' | 'info' | 'warning';
  message: string;
  location?: Location | null;
  evidence?: Evidence[];
  next_step?: NextStep | null;
  subject?: string | null;
}
/**
 * One figure or quotation.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Evidence".
 */
export interface Evidence {
  label: string;
  value: string | number | null;
  unit?: string | null;
}
/**
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "NextStep".
 */
export interface NextStep {
  text: string;
  code?: string | null;
}
/**
 * A cell or file whose lines the report refers to.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Source".
 */
export interface Source {
  file: string;
  text: string;
  first_line?: number;
  cell?: number | null;
  cell_id?: string | null;
  notebook?: string | null;
  path?: string | null;
}
/**
 * Steps left out of the statistics, by reason.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "Excluded".
 */
export interface Excluded1 {
  count?: number;
  compiling?: number;
  warm_up?: number;
  mixed?: number;
  incomplete?: number;
}
/**
 * One entry a step, in columns. kind: e eager, c compiled, x compiling, w warm-up, m mixed, i incomplete.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "StepSeries".
 */
export interface StepSeries1 {
  index?: number[];
  start_s?: number[];
  duration_s?: number[];
  kind?: string;
  decimated?: boolean;
}
/**
 * One line of the run list.
 *
 * This interface was referenced by `Records`'s JSON-Schema
 * via the `definition` "RunSummary".
 */
export interface RunSummary {
  run: Run;
  headline?: string;
  errors?: number;
  warnings?: number;
  infos?: number;
  speedup?: number | null;
}
