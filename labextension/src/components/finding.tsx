/** A finding: icon by shape and colour, one sentence, where, the evidence, and what to do about it. */
import React from 'react';

import { bytes, count, duration, significant, THIN, UNKNOWN } from '../format';
import { Evidence, Finding } from '../records';
import { LocationChip } from './chip';
import { usePanel } from './context';
import { CopyableCode } from './copyable';
import { SeverityMark } from './marks';
import { Words } from './words';

export interface IFindingCardProps {
  finding: Finding;
  open: boolean;
  onToggle: () => void;
  /** Goes to the view that shows what the finding is about; left out where there is none. */
  onShow?: () => void;
  /** What that view is called. */
  showLabel?: string;
}

export function FindingCard({ finding, open, onToggle, onShow, showLabel }: IFindingCardProps): JSX.Element {
  const { trans } = usePanel();
  const id = React.useId();
  return (
    <li className={`stc-Finding stc-mod-${finding.severity} ${open ? 'stc-mod-open' : ''}`}>
      <div className="stc-Finding-head">
        <SeverityMark severity={finding.severity} trans={trans} />
        <div className="stc-Finding-says">
          <button
            type="button"
            className="stc-Finding-message"
            aria-expanded={open}
            aria-controls={open ? id : undefined}
            onClick={onToggle}
          >
            <Words text={finding.message} />
          </button>
          {finding.location && <LocationChip location={finding.location} />}
        </div>
        <span className="stc-Caret" aria-hidden="true" onClick={onToggle} />
      </div>
      {open && (
        <div id={id} className="stc-Finding-body">
          {finding.evidence.length > 0 && (
            <dl className="stc-Evidence">
              {finding.evidence.map((evidence, index) => (
                <div key={index}>
                  <dt>{evidence.label}</dt>
                  <dd>{evidenceText(evidence)}</dd>
                </div>
              ))}
            </dl>
          )}
          {finding.next_step && (
            <div className="stc-NextStep">
              <h4>{trans.__('What to do')}</h4>
              <p>
                <Words text={finding.next_step.text} />
              </p>
              {finding.next_step.code && <CopyableCode code={finding.next_step.code} />}
            </div>
          )}
          <div className="stc-Finding-foot">
            <span className="stc-Finding-code">{finding.code}</span>
            {onShow && (
              <button type="button" className="stc-Link" onClick={onShow}>
                {showLabel}
              </button>
            )}
          </div>
        </div>
      )}
    </li>
  );
}

/** Figures by their unit; quotations as they are. */
export function evidenceText({ value, unit }: Evidence): string {
  if (value === null) {
    return UNKNOWN;
  }
  if (typeof value === 'string') {
    return unit ? `${value}${THIN}${unit}` : value;
  }
  switch (unit) {
    case 's':
      return duration(value);
    case 'bytes':
    case 'B':
      return bytes(value);
    case null:
      return Number.isInteger(value) ? count(value) : significant(value);
    default:
      return `${Number.isInteger(value) ? count(value) : significant(value)}${THIN}${unit}`;
  }
}

/** What stays the same of a finding while its counts grow: open ones stay open through live updates. */
export function findingKey(finding: Finding): string {
  const { code, subject, location } = finding;
  return [code, subject ?? '', location ? `${location.file}:${location.line}` : ''].join('|');
}
