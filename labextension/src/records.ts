/**
 * The records as the server sends them: every field is present, because the server encodes defaults too.
 *
 * The generated types call a field with a default optional; `Sent` takes that back, all the way down.
 */
import * as generated from './generated/records';

export type Sent<T> = T extends (infer Item)[]
  ? Sent<Item>[]
  : T extends object
    ? { [Key in keyof T]-?: Sent<Exclude<T[Key], undefined>> }
    : T;

export type Location = Sent<generated.Location>;
export type Source = Sent<generated.Source>;
export type Environment = Sent<generated.Environment>;
export type Run = Sent<generated.Run>;
export type Progress = Sent<generated.Progress>;
export type Operation = Sent<generated.Operation>;
export type Layout = Sent<generated.Layout>;
export type Kernel = Sent<generated.Kernel>;
export type NotFused = Sent<generated.NotFused>;
export type Graph = Sent<generated.Graph>;
export type Break = Sent<generated.Break>;
export type Recompilation = Sent<generated.Recompilation>;
export type Limit = Sent<generated.Limit>;
export type Phase = Sent<generated.Phase>;
export type Unit = Sent<generated.Unit>;
export type Decision = Sent<generated.Decision>;
export type Timing = Sent<generated.Timing>;
export type Steps = Sent<generated.Steps>;
export type StepSeries = Sent<generated.StepSeries>;
export type Evidence = Sent<generated.Evidence>;
export type Finding = Sent<generated.Finding>;
export type Report = Sent<generated.Report>;
export type RunSummary = Sent<generated.RunSummary>;

export type Severity = Finding['severity'];
export type Status = Run['status'];
export type KernelKind = Kernel['kind'];
