/** What jsdom lacks and JupyterLab's packages ask for when they are imported. */
import { cleanup, configure } from '@testing-library/react';
import { afterAll, afterEach } from 'vitest';

import { installLayout, resetLayout } from './layout';
import { drawn } from './plotly';

class PlainDragEvent extends MouseEvent {
  readonly dataTransfer = null;
}

class PlainPointerEvent extends MouseEvent {
  readonly pointerId: number;
  constructor(type: string, init: PointerEventInit = {}) {
    super(type, init);
    this.pointerId = init.pointerId ?? 0;
  }
}

/** Everything is in sight. */
class NoIntersectionObserver {
  observe(): void {
    return undefined;
  }
  unobserve(): void {
    return undefined;
  }
  disconnect(): void {
    return undefined;
  }
}

// Without the whole document in each message, and with patience for a busy machine.
configure({ getElementError: message => new Error(message ?? undefined), asyncUtilTimeout: 10000 });
installLayout();
window.IntersectionObserver ??= NoIntersectionObserver as unknown as typeof IntersectionObserver;
window.CSS ??= { escape: (text: string) => text.replace(/[^\w-]/g, '\\$&') } as typeof CSS;
window.PointerEvent ??= PlainPointerEvent as unknown as typeof PointerEvent;
window.DragEvent ??= PlainDragEvent as unknown as typeof DragEvent;
Element.prototype.setPointerCapture ??= () => undefined;
window.requestIdleCallback ??= callback =>
  window.setTimeout(() => callback({ didTimeout: false, timeRemaining: () => 50 }));
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

// What React and Lumino have put off is done before the page goes.
afterAll(() => new Promise(resolve => window.setTimeout(resolve, 50)));

afterEach(() => {
  cleanup();
  resetLayout();
  drawn.length = 0;
});
