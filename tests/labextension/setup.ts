/** What jsdom lacks and JupyterLab's packages ask for when they are imported. */
import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';

import { installLayout, resetLayout } from './layout';
import { drawn } from './plotly';

class PlainDragEvent extends MouseEvent {
  readonly dataTransfer = null;
}

installLayout();
if (typeof DOMRect === 'undefined') {
  throw new Error('jsdom is too old: it has no DOMRect.');
}
window.DragEvent ??= PlainDragEvent as unknown as typeof DragEvent;
Element.prototype.setPointerCapture ??= () => undefined;
window.matchMedia ??= (query: string) =>
  ({
    matches: false,
    media: query,
    onchange: null,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    addListener: () => undefined,
    removeListener: () => undefined,
    dispatchEvent: () => false
  }) as MediaQueryList;

afterEach(() => {
  cleanup();
  resetLayout();
  drawn.length = 0;
});
