/** jsdom lays nothing out: here a test says how wide everything is, and everybody who observes a size hears of it. */
import { act } from '@testing-library/react';

let width = 0;
const observers = new Set<Observer>();

class Observer implements ResizeObserver {
  constructor(private readonly callback: ResizeObserverCallback) {
    observers.add(this);
  }
  observe(target: Element): void {
    this.targets.add(target);
  }
  unobserve(target: Element): void {
    this.targets.delete(target);
  }
  disconnect(): void {
    this.targets.clear();
    observers.delete(this);
  }
  tell(): void {
    const entries = [...this.targets].map(target => ({ target, contentRect: new DOMRect(0, 0, width, 0) }));
    if (entries.length > 0) {
      this.callback(entries as unknown as ResizeObserverEntry[], this);
    }
  }
  private readonly targets = new Set<Element>();
}

export function installLayout(): void {
  window.ResizeObserver = Observer;
  Object.defineProperty(HTMLElement.prototype, 'clientWidth', { configurable: true, get: () => width });
}

/** Everything is this wide from now on; 0 is not shown at all. */
export function setWidth(pixels: number): void {
  width = pixels;
  act(() => [...observers].forEach(observer => observer.tell()));
}

/** How many observers nobody has disconnected. */
export const observing = (): number => observers.size;

export function resetLayout(): void {
  width = 0;
  observers.clear();
}
