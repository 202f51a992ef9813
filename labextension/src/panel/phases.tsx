/** Where the compile time went: one bar, its phases in their order, and the same in words below. */
import React from 'react';

import { Figure } from '../components/number';
import { KERNEL_COLOURS } from '../components/palette';
import { usePanel } from '../components/context';
import { duration, percent } from '../format';
import { Phase } from '../records';

export interface IPhaseBarProps {
  phases: readonly Phase[];
  /** Wall time the training thread waited for compilers, where known. */
  total: number | null;
}

/** A sliver below this share of the bar could not be seen, nor hovered. */
const SMALLEST_SHARE = 0.004;

interface IPart {
  name: string;
  label: string;
  seconds: number;
  count: number;
  /** null: time between phases, hatched. */
  colour: number | null;
}

export function PhaseBar({ phases, total }: IPhaseBarProps): JSX.Element {
  const { trans } = usePanel();
  const measured = phases.reduce((sum, phase) => sum + phase.self_s, 0);
  const whole = Math.max(total ?? 0, measured);
  const parts: IPart[] = phases
    .filter(phase => phase.self_s > 0)
    .map((phase, index) => ({
      name: phase.name,
      label: phase.label,
      seconds: phase.self_s,
      count: phase.count,
      colour: index % KERNEL_COLOURS
    }));
  const rest = whole - measured;
  if (total !== null && rest > 0.01 * whole) {
    parts.push({ name: '', label: trans.__('Between phases'), seconds: rest, count: 0, colour: null });
  }
  const [lit, setLit] = React.useState<string | null>(null);
  const paint = (part: IPart): React.CSSProperties =>
    part.colour === null ? {} : { background: `var(--stc-kernel-${part.colour})` };

  return (
    <div className="stc-Phases">
      <div className="stc-Phases-bar" aria-hidden="true">
        {parts
          .filter(part => part.seconds / whole >= SMALLEST_SHARE)
          .map(part => (
            <span
              key={part.name}
              className={`${lit === part.name ? 'stc-mod-lit' : ''} ${part.colour === null ? 'stc-mod-rest' : ''}`}
              style={{ flexGrow: part.seconds, ...paint(part) }}
              title={`${part.label}: ${duration(part.seconds)}`}
              onMouseEnter={() => setLit(part.name)}
              onMouseLeave={() => setLit(null)}
            />
          ))}
      </div>
      <table className="stc-Phases-legend">
        <caption className="stc-Hidden">{trans.__('Compile time by phase')}</caption>
        <thead className="stc-Hidden">
          <tr>
            <th scope="col">{trans.__('Phase')}</th>
            <th scope="col">{trans.__('Time')}</th>
            <th scope="col">{trans.__('Share')}</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(part => (
            <tr
              key={part.name}
              className={lit === part.name ? 'stc-mod-lit' : undefined}
              onMouseEnter={() => setLit(part.name)}
              onMouseLeave={() => setLit(null)}
            >
              <th scope="row">
                <span
                  className={`stc-Swatch ${part.colour === null ? 'stc-mod-rest' : ''}`}
                  style={paint(part)}
                />
                {part.label}
              </th>
              <td>
                <Figure
                  text={duration(part.seconds)}
                  name="compile.phases.self_s"
                  details={part.count > 1 ? [trans.__('Entered %1 times.', part.count)] : []}
                />
              </td>
              <td>{percent(part.seconds / whole)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
