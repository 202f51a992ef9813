/**
 * A place in the user's code, "In[3] : 12". Enter or click goes there.
 *
 * Where the notebook is not open or the cell is gone it shows the source as it was when recorded.
 */
import React from 'react';

import { Location, Source } from '../records';
import { OpenOutcome } from '../tokens';
import { usePanel } from './context';
import { Floating } from './floating';

export interface ILocationChipProps {
  location: Location;
  /** Leave out of the Tab order, where a table or list moves the focus itself. */
  tabbable?: boolean;
}

/** "In[3] : 12"; of a file only its last part, for the chip to stay short. */
export function chipText(location: Location): string {
  const file = location.cell !== null ? location.file : (location.file.split('/').pop() ?? location.file);
  return `${file} : ${location.line}`;
}

export function LocationChip({ location, tabbable = true }: ILocationChipProps): JSX.Element {
  const { trans, openLocation } = usePanel();
  const anchor = React.useRef<HTMLButtonElement>(null);
  const [outcome, setOutcome] = React.useState<OpenOutcome | null>(null);
  const close = React.useCallback(() => setOutcome(null), []);

  const go = async (event: React.SyntheticEvent): Promise<void> => {
    event.stopPropagation();
    const became = await openLocation(location);
    setOutcome(became === 'shown' ? null : became);
  };
  const where = location.function ? trans.__('%1, in %2', location.file, location.function) : location.file;
  return (
    <>
      <button
        ref={anchor}
        type="button"
        className="stc-Chip"
        tabIndex={tabbable ? 0 : -1}
        title={location.text ? `${where}\n${location.text.trim()}` : where}
        aria-label={trans.__('Go to %1, line %2', location.file, location.line)}
        aria-expanded={outcome !== null ? true : undefined}
        onClick={go}
        onKeyDown={event => {
          if (event.key === 'Enter' || event.key === ' ') {
            event.stopPropagation(); // the row around it has its own meaning for these
          }
        }}
      >
        {chipText(location)}
      </button>
      {outcome !== null && outcome !== 'shown' && anchor.current && (
        <RecordedSource anchor={anchor.current} location={location} outcome={outcome} onClose={close} />
      )}
    </>
  );
}

const CONTEXT_LINES = 3;

interface IRecordedSourceProps {
  anchor: HTMLElement;
  location: Location;
  outcome: Exclude<OpenOutcome, 'shown'>;
  onClose: () => void;
}

/** The lines around the place, from the record. */
function RecordedSource({ anchor, location, outcome, onClose }: IRecordedSourceProps): JSX.Element {
  const { trans, sources, openClosed, canOpen } = usePanel();
  const box = React.useRef<HTMLDivElement>(null);
  const lines = excerpt(sources, location);
  const why = {
    'not-open':
      location.cell !== null ? trans.__('The notebook is not open.') : trans.__('The file is not open here.'),
    'cell-gone': trans.__('The cell is not in the notebook any more.'),
    'line-gone': trans.__('The code has changed since this run.')
  }[outcome];

  const leave = React.useCallback(() => {
    onClose();
    anchor.focus();
  }, [anchor, onClose]);

  React.useEffect(() => {
    box.current?.focus();
    const pressed = (event: MouseEvent): void => {
      if (
        event.target instanceof Node &&
        !box.current?.contains(event.target) &&
        !anchor.contains(event.target)
      ) {
        onClose();
      }
    };
    document.addEventListener('mousedown', pressed, true);
    return () => document.removeEventListener('mousedown', pressed, true);
  }, [anchor, onClose]);

  return (
    <Floating
      anchor={anchor}
      onAway={onClose}
      role="dialog"
      aria-label={trans.__('Recorded source of %1', location.file)}
      className="stc-Popover"
    >
      <div
        ref={box}
        tabIndex={-1}
        className="stc-Popover-body"
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            leave();
          }
        }}
      >
        <p className="stc-Popover-why">
          {why}{' '}
          {lines.length > 0 ? trans.__('As it was when recorded:') : trans.__('Its source was not recorded.')}
        </p>
        {lines.length > 0 && (
          <pre className="stc-Popover-source">
            {lines.map(line => (
              <div
                key={line.number}
                className={line.number === location.line ? 'stc-mod-current' : undefined}
                aria-current={line.number === location.line ? 'location' : undefined}
              >
                <span className="stc-Popover-number">{line.number}</span>
                {line.text || ' '}
              </div>
            ))}
          </pre>
        )}
        <div className="stc-Popover-actions">
          {outcome === 'not-open' && canOpen(location) && (
            <button
              type="button"
              className="stc-Button"
              onClick={async () => {
                if ((await openClosed(location)) === 'shown') {
                  onClose();
                }
              }}
            >
              {location.cell !== null ? trans.__('Open the notebook') : trans.__('Open the file')}
            </button>
          )}
          <button type="button" className="stc-Button" onClick={leave}>
            {trans.__('Close')}
          </button>
        </div>
      </div>
    </Floating>
  );
}

interface INumberedLine {
  number: number;
  text: string;
}

/** The recorded lines around a location; only its own line where the source was not kept; none where not even that. */
export function excerpt(sources: readonly Source[], location: Location): INumberedLine[] {
  const source = sources.find(candidate => candidate.file === location.file);
  const index = source ? location.line - source.first_line : -1;
  const all = source ? source.text.split('\n') : [];
  if (index < 0 || index >= all.length) {
    return location.text !== null ? [{ number: location.line, text: location.text }] : [];
  }
  const from = Math.max(0, index - CONTEXT_LINES);
  return all
    .slice(from, index + CONTEXT_LINES + 1)
    .map((text, offset) => ({ number: (source?.first_line ?? 1) + from + offset, text }));
}
