/** A figure whose hover and focus give its definition, source and window, so that no number stands unexplained. */
import React from 'react';

import { definition } from '../definitions';
import { usePanel } from './context';
import { Floating } from './floating';

export interface IFigureProps {
  /** The figure as it is written, unit included: see format.ts. */
  text: string;
  /** Its name in definitions.json. */
  name?: string;
  /** More to say on hover, such as n or an interval; one line each. */
  details?: readonly string[];
  className?: string;
  /** Reached by Tab, so that the keyboard finds the definition. Leave off in the cells of tables. */
  focusable?: boolean;
}

const DELAY_MS = 300;

export function Figure({
  text,
  name,
  details = [],
  className,
  focusable = false
}: IFigureProps): JSX.Element {
  const { trans } = usePanel();
  const anchor = React.useRef<HTMLSpanElement>(null);
  const timer = React.useRef<number>();
  const [open, setOpen] = React.useState(false);
  const id = React.useId();
  const known = name ? definition(name) : null;

  const hide = React.useCallback(() => {
    window.clearTimeout(timer.current);
    setOpen(false);
  }, []);
  React.useEffect(() => hide, [hide]);

  if (!known && details.length === 0) {
    return <span className={`stc-Figure ${className ?? ''}`}>{text}</span>;
  }
  const later = (): void => {
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setOpen(true), DELAY_MS);
  };
  return (
    <span
      ref={anchor}
      className={`stc-Figure stc-mod-explained ${className ?? ''}`}
      tabIndex={focusable ? 0 : undefined}
      aria-describedby={open ? id : undefined}
      onMouseEnter={later}
      onMouseLeave={hide}
      onFocus={() => setOpen(true)}
      onBlur={hide}
      onKeyDown={event => {
        if (event.key === 'Escape' && open) {
          event.stopPropagation();
          hide();
        }
      }}
    >
      {text}
      {open && anchor.current && (
        <Floating anchor={anchor.current} onAway={hide} id={id} role="tooltip" className="stc-Tooltip">
          {known && (
            <>
              <div className="stc-Tooltip-title">{known.label}</div>
              <p>{known.definition}</p>
              <dl>
                <dt>{trans.__('Window')}</dt>
                <dd>{known.window}</dd>
                <dt>{trans.__('Source')}</dt>
                <dd>{known.source}</dd>
              </dl>
            </>
          )}
          {details.map(line => (
            <p key={line} className="stc-Tooltip-detail">
              {line}
            </p>
          ))}
        </Floating>
      )}
    </span>
  );
}
