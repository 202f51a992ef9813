/** A figure that explains itself on hover and focus. */
import { act, fireEvent, screen } from '@testing-library/react';
import React from 'react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { Figure } from '../../../labextension/src/components/number';
import { definition } from '../../../labextension/src/definitions';
import { HTML } from '../reports';
import { expectNoMarkup, show } from '../view';

const NAME = 'steps.speedup.ratio';
const wait = (milliseconds: number): void => act(() => void vi.advanceTimersByTime(milliseconds));
const tooltip = (): HTMLElement | null => screen.queryByRole('tooltip');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('given a figure with a definition', () => {
  test('when the pointer rests on it, then definition, window, source and details come after a moment', () => {
    show(<Figure text="1.31×" name={NAME} details={['n = 42']} />);
    const figure = screen.getByText('1.31×');
    fireEvent.mouseEnter(figure);
    expect(tooltip()).toBeNull();
    wait(300);
    const known = definition(NAME);
    for (const text of [known?.label, known?.definition, known?.window, known?.source, 'n = 42']) {
      expect(tooltip()?.textContent).toContain(text);
    }
    expect(figure.getAttribute('aria-describedby')).toBe(tooltip()?.id);
  });

  test('when the pointer only passes over it, then nothing comes', () => {
    show(<Figure text="1.31×" name={NAME} />);
    fireEvent.mouseEnter(screen.getByText('1.31×'));
    wait(200);
    fireEvent.mouseLeave(screen.getByText('1.31×'));
    wait(1000);
    expect(tooltip()).toBeNull();
  });

  test('when the pointer leaves, then it goes', () => {
    show(<Figure text="1.31×" name={NAME} />);
    fireEvent.mouseEnter(screen.getByText('1.31×'));
    wait(300);
    fireEvent.mouseLeave(screen.getByText('1.31×'));
    expect(tooltip()).toBeNull();
  });

  test('when it has the focus, then the words come at once, and Escape puts only them away', () => {
    const escaped = vi.fn();
    show(
      <div onKeyDown={escaped}>
        <Figure text="1.31×" name={NAME} focusable />
      </div>
    );
    const figure = screen.getByText('1.31×');
    expect(figure.tabIndex).toBe(0);
    act(() => figure.focus());
    expect(tooltip()).not.toBeNull();
    fireEvent.keyDown(figure, { key: 'Escape' });
    expect(tooltip()).toBeNull();
    expect(escaped).not.toHaveBeenCalled();
    fireEvent.keyDown(figure, { key: 'Escape' });
    expect(escaped).toHaveBeenCalledOnce();
  });

  test('when it is taken away before the words came, then they never come', () => {
    const { unmount } = show(<Figure text="1.31×" name={NAME} />);
    fireEvent.mouseEnter(screen.getByText('1.31×'));
    unmount();
    wait(1000);
    expect(tooltip()).toBeNull();
  });
});

describe('given a figure with nothing to explain', () => {
  test.each([{}, { name: 'unheard.of' }])('when it has %o, then it is text without a promise', props => {
    show(<Figure text="42" {...props} />);
    const figure = screen.getByText('42');
    fireEvent.mouseEnter(figure);
    wait(1000);
    expect(tooltip()).toBeNull();
    expect(figure.className).not.toContain('stc-mod-explained');
  });

  test('when it has only details, then they are what is said', () => {
    show(<Figure text="–" details={['Its bytes were not recorded.', HTML]} />);
    fireEvent.mouseEnter(screen.getByText('–'));
    wait(300);
    expect(tooltip()?.textContent).toContain('Its bytes were not recorded.');
    expect(tooltip()?.textContent).toContain(HTML);
    expectNoMarkup(document.body);
  });
});
