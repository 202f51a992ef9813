/** How wide an element is: views have one shape below 700 px and another above, a part of one from a width of its own. */
import React from 'react';

export const WIDE_PX = 700;

export function useWidth(
  element: React.RefObject<HTMLElement>,
  least: number = WIDE_PX,
  first: 'narrow' | 'wide' = 'narrow'
): 'narrow' | 'wide' {
  const [width, setWidth] = React.useState<'narrow' | 'wide'>(first);
  React.useLayoutEffect(() => {
    const target = element.current;
    if (!target) {
      return;
    }
    const measure = (pixels: number): void => {
      // A hidden panel has no width, and keeps the shape it had.
      if (pixels > 0) {
        setWidth(pixels >= least ? 'wide' : 'narrow');
      }
    };
    measure(target.clientWidth);
    const observer = new ResizeObserver(entries => measure(entries[entries.length - 1].contentRect.width));
    observer.observe(target);
    return () => observer.disconnect();
  }, [element, least]);
  return width;
}
