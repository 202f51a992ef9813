/** What capture could not see, folded: so that nobody takes the unseen for absent. */
import React from 'react';

import { usePanel } from '../components/context';
import { count } from '../format';
import { Report } from '../records';

export function Gaps({ gaps }: { gaps: Report['compile']['gaps'] }): JSX.Element | null {
  const { trans } = usePanel();
  if (gaps.length === 0) {
    return null;
  }
  return (
    <details className="stc-Details stc-Gaps">
      <summary>{trans.__('What could not be seen (%1)', gaps.length)}</summary>
      <ul>
        {gaps.map((gap, index) => (
          <li key={index}>
            {gap.reason}
            {gap.count > 1 && <span className="stc-mod-note">{` ×${count(gap.count)}`}</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}
