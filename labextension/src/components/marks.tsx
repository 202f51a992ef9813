/** Status and severity as small pictures, told apart by shape first and colour second. */
import React from 'react';
import { TranslationBundle } from '@jupyterlab/translation';

import { Run, Severity } from '../records';

/** How a run stands, "partial" being a completed one with something missing. */
export type Mark = Run['status'] | 'partial';

export const markOf = (run: Run): Mark =>
  run.status === 'completed' && run.partial ? 'partial' : run.status;

export function markWords(mark: Mark, trans: TranslationBundle): string {
  switch (mark) {
    case 'running':
      return trans.__('Running');
    case 'completed':
      return trans.__('Completed');
    case 'failed':
      return trans.__('Failed');
    case 'interrupted':
      return trans.__('Interrupted');
    case 'lost':
      return trans.__('Lost');
    case 'partial':
      return trans.__('Partial');
    default:
      return mark;
  }
}

const SHAPES: Readonly<Record<Mark, JSX.Element>> = {
  running: (
    <>
      <circle className="stc-Mark-ring" cx="8" cy="8" r="6.25" />
      <circle className="stc-Mark-fill" cx="8" cy="8" r="3.5" />
    </>
  ),
  completed: (
    <>
      <circle className="stc-Mark-fill" cx="8" cy="8" r="7" />
      <path className="stc-Mark-cut" d="M4.6 8.3 7 10.7 11.4 5.6" />
    </>
  ),
  failed: (
    <>
      <path className="stc-Mark-fill" d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" />
      <path className="stc-Mark-cut" d="m5.4 5.4 5.2 5.2m0-5.2-5.2 5.2" />
    </>
  ),
  interrupted: (
    <>
      <rect className="stc-Mark-line" x="1.75" y="1.75" width="12.5" height="12.5" rx="2" />
      <rect className="stc-Mark-fill" x="5" y="5" width="6" height="6" />
    </>
  ),
  lost: (
    <>
      <circle className="stc-Mark-line stc-mod-dashed" cx="8" cy="8" r="6.25" />
      <path className="stc-Mark-line" d="M6 6.2c.2-2.6 4.2-2.5 4 .1-.1 1.200-2 1.300-2 2.900" />
      <circle className="stc-Mark-fill" cx="8" cy="11.6" r="1" />
    </>
  ),
  partial: (
    <>
      <circle className="stc-Mark-line" cx="8" cy="8" r="6.25" />
      <path className="stc-Mark-fill" d="M8 1.750a6.250 6.250 0 0 1 0 12.500z" />
    </>
  )
};

export interface IStatusMarkProps {
  mark: Mark;
  trans: TranslationBundle;
  /** Where the words stand beside it. */
  silent?: boolean;
}

export function StatusMark({ mark, trans, silent = false }: IStatusMarkProps): JSX.Element {
  const words = markWords(mark, trans);
  return (
    <svg
      className={`stc-Mark stc-mod-${mark}`}
      viewBox="0 0 16 16"
      role={silent ? undefined : 'img'}
      aria-label={silent ? undefined : words}
      aria-hidden={silent}
    >
      {silent ? null : <title>{words}</title>}
      {SHAPES[mark] ?? SHAPES.lost}
    </svg>
  );
}

const SEVERITIES: Readonly<Record<Severity, JSX.Element>> = {
  error: (
    <>
      <path className="stc-Mark-fill" d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" />
      <path className="stc-Mark-cut" d="m5.4 5.4 5.2 5.2m0-5.2-5.2 5.2" />
    </>
  ),
  warning: (
    <>
      <path
        className="stc-Mark-fill"
        d="M7.100 1.600a1 1 0 0 1 1.800 0l6.100 11.900a1 1 0 0 1-.9 1.500H1.900a1 1 0 0 1-.9-1.500z"
      />
      <path className="stc-Mark-cut" d="M8 5.500v4.200M8 12v.6" />
    </>
  ),
  info: (
    <>
      <circle className="stc-Mark-fill" cx="8" cy="8" r="7" />
      <path className="stc-Mark-cut" d="M8 7.400v4.200M8 4.300v.6" />
    </>
  )
};

export function SeverityMark({
  severity,
  trans
}: {
  severity: Severity;
  trans: TranslationBundle;
}): JSX.Element {
  const words = severityWords(severity, trans);
  return (
    <svg className={`stc-Mark stc-mod-${severity}`} viewBox="0 0 16 16" role="img" aria-label={words}>
      <title>{words}</title>
      {SEVERITIES[severity] ?? SEVERITIES.info}
    </svg>
  );
}

export function severityWords(severity: Severity, trans: TranslationBundle): string {
  switch (severity) {
    case 'error':
      return trans.__('Error');
    case 'warning':
      return trans.__('Warning');
    default:
      return trans.__('Note');
  }
}
