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
    const scrolled = (event: Event): void => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) {
        onAway();
      }
    };
    window.addEventListener('scroll', scrolled, true);
    window.addEventListener('resize', onAway);
    return () => {
      window.removeEventListener('scroll', scrolled, true);
      window.removeEventListener('resize', onAway);
    };
  }, [onAway]);

  return createPortal(
    <div {...rest} ref={box} className={`stc-Floating ${className ?? ''}`}>
      {children}
    </div>,
    document.body
  );
}
