/** A box beside its anchor, above everything else and inside the window; tooltips and popovers are made of it. */
import React from 'react';
import { createPortal } from 'react-dom';

const GAP = 6;
const EDGE = 8;

export interface IFloatingProps extends React.HTMLAttributes<HTMLDivElement> {
  anchor: HTMLElement;
  /** Called when the anchor has moved away under the box, as in scrolling. */
  onAway: () => void;
}

export function Floating({ anchor, onAway, className, children, ...rest }: IFloatingProps): JSX.Element {
  const box = React.useRef<HTMLDivElement>(null);

  React.useLayoutEffect(() => {
    const element = box.current;
    if (!element) {
      return;
    }
    const at = anchor.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    const below = at.bottom + GAP;
    const fits = below + height <= window.innerHeight - EDGE || at.top - GAP - height < EDGE;
    const left = Math.min(Math.max(EDGE, at.left), window.innerWidth - EDGE - width);
    element.style.top = `${fits ? below : at.top - GAP - height}px`;
    element.style.left = `${Math.max(EDGE, left)}px`;
    element.style.maxHeight = `${(fits ? window.innerHeight - EDGE - below : at.top - GAP - EDGE).toFixed(0)}px`;
    element.style.visibility = 'visible';
  });

  React.useEffect(() => {
    const { left, top } = anchor.getBoundingClientRect();
    // An event may still come of a scroll that was over before the box appeared: what counts is whether the anchor moves.
    const scrolled = (): void => {
      const now = anchor.getBoundingClientRect();
      if (Math.abs(now.left - left) > 1 || Math.abs(now.top - top) > 1) {
        onAway();
      }
    };
    window.addEventListener('scroll', scrolled, true);
    window.addEventListener('resize', onAway);
    return () => {
      window.removeEventListener('scroll', scrolled, true);
      window.removeEventListener('resize', onAway);
    };
  }, [anchor, onAway]);

  return createPortal(
    <div {...rest} ref={box} className={`stc-Floating ${className ?? ''}`}>
      {children}
    </div>,
    document.body
  );
}
