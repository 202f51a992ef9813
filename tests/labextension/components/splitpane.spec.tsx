/** Two panes and a divider. */
import { fireEvent, screen } from '@testing-library/react';
import React from 'react';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { SplitPane } from '../../../labextension/src/components/splitpane';
import { expectAccessible, show } from '../view';

let number = 0;
/** Shares are remembered by name: each test has one of its own. */
const fresh = (): string => `pane ${++number}`;

const pane = (name: string, props: Partial<Parameters<typeof SplitPane>[0]> = {}): JSX.Element => (
  <SplitPane name={name} stacked={false} first={<p>left</p>} second={<p>right</p>} {...props} />
);
const divider = (): HTMLElement => screen.getByRole('separator', { name: 'Width of the left side' });
const share = (): number => Number(divider().getAttribute('aria-valuenow'));
const width = (): string => (screen.getByText('left').parentElement as HTMLElement).style.flexBasis;

afterEach(() => void vi.restoreAllMocks());

describe('given two panes beside each other', () => {
  test('when they appear, then the first has its share and the divider says so', async () => {
    const { container } = show(pane(fresh(), { initial: 40 }));
    expect(share()).toBe(40);
    expect(width()).toBe('40%');
    await expectAccessible(container);
  });

  test('when arrows are pressed on the divider, then it moves and stops at both ends', () => {
    show(pane(fresh(), { initial: 50 }));
    fireEvent.keyDown(divider(), { key: 'ArrowRight' });
    expect(share()).toBe(54);
    fireEvent.keyDown(divider(), { key: 'ArrowLeft' });
    expect(share()).toBe(50);
    fireEvent.keyDown(divider(), { key: 'Home' });
    expect(share()).toBe(20);
    fireEvent.keyDown(divider(), { key: 'ArrowLeft' });
    expect(share()).toBe(20);
    fireEvent.keyDown(divider(), { key: 'End' });
    expect(share()).toBe(80);
    fireEvent.keyDown(divider(), { key: 'ArrowRight' });
    expect(share()).toBe(80);
  });

  test('when another key is pressed on the divider, then it is left to others', () => {
    show(pane(fresh(), { initial: 50 }));
    expect(fireEvent.keyDown(divider(), { key: 'Tab' })).toBe(true);
    expect(share()).toBe(50);
  });

  test('when the divider is dragged, then it follows the pointer until that is let go', () => {
    vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(100, 0, 1000, 500));
    show(pane(fresh(), { initial: 50 }));
    fireEvent.pointerMove(divider(), { clientX: 400, pointerId: 1 });
    expect(share()).toBe(50);
    fireEvent.pointerDown(divider(), { clientX: 600, pointerId: 1 });
    fireEvent.pointerMove(divider(), { clientX: 400, pointerId: 1 });
    expect(share()).toBe(30);
    fireEvent.pointerMove(divider(), { clientX: 5000, pointerId: 1 });
    expect(share()).toBe(80);
    fireEvent.pointerUp(divider(), { pointerId: 1 });
    fireEvent.pointerMove(divider(), { clientX: 400, pointerId: 1 });
    expect(share()).toBe(80);
  });

  test('when the divider is pressed twice, then it is back where it began', () => {
    show(pane(fresh(), { initial: 45 }));
    fireEvent.keyDown(divider(), { key: 'End' });
    fireEvent.doubleClick(divider());
    expect(share()).toBe(45);
  });

  test('when the view is left and comes back, then it has the share that it was given; others have not', () => {
    const name = fresh();
    const { unmount } = show(pane(name, { initial: 45 }));
    fireEvent.keyDown(divider(), { key: 'ArrowRight' });
    unmount();
    const { unmount: away } = show(pane(name, { initial: 45 }));
    expect(share()).toBe(49);
    away();
    show(pane(fresh(), { initial: 45 }));
    expect(share()).toBe(45);
  });
});

describe('given no room for two beside each other', () => {
  test('when they are stacked, then both are there and nothing is to be dragged', () => {
    show(pane(fresh(), { stacked: true }));
    expect(screen.queryByRole('separator')).toBeNull();
    expect(width()).toBe('');
    expect(screen.getByText('right')).toBeTruthy();
  });
});
