/** What jsdom lacks and JupyterLab's packages ask for when they are imported. */
import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';

class NoResizeObserver {
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

class PlainDragEvent extends MouseEvent {
  readonly dataTransfer = null;
}

window.ResizeObserver ??= NoResizeObserver;
window.DragEvent ??= PlainDragEvent as unknown as typeof DragEvent;
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

afterEach(cleanup);
