/** Where compiling was interrupted, and what was compiled again: breaks, recompilations and limits over the steps. */
import React from 'react';

import { LocationChip } from '../../components/chip';
import { Words } from '../../components/words';
import { IViewProps } from '../../tokens';

export function BreaksView({ report }: IViewProps): JSX.Element {
  const { breaks, recompilations } = report.compile;
  return (
    <div className="stc-Breaks">
      <ul>
        {breaks.map(broken => (
          <li key={broken.id}>
            <Words text={broken.reason} /> {broken.location && <LocationChip location={broken.location} />}
          </li>
        ))}
        {recompilations.map(again => (
          <li key={again.id}>
            <code>{again.guard}</code> {again.location && <LocationChip location={again.location} />}
          </li>
        ))}
      </ul>
    </div>
  );
}
