/** Times that go on by themselves. */
import { act, screen } from '@testing-library/react';
import React from 'react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { ago, Elapsed, Since, useNow } from '../../../labextension/src/components/clock';
import { THIN } from '../../../labextension/src/format';
import { show, trans } from '../view';

const NOW = Date.UTC(2025, 11, 1, 12, 0, 0) / 1000;
const pass = (seconds: number): void => act(() => void vi.advanceTimersByTime(seconds * 1000));

beforeEach(() => {
  vi.useFakeTimers({ now: NOW * 1000 });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('how long ago', () => {
  test.each([
    [0, 'just now'],
    [59, 'just now'],
    [60, `1${THIN}min ago`],
    [3599, `59${THIN}min ago`],
    [3600, `1${THIN}h ago`],
    [86399, `23${THIN}h ago`],
    [86400, '1 day ago'],
    [5 * 86400, '5 days ago'],
    [13.9 * 86400, '13 days ago']
  ])('given %d seconds, then "%s"', (seconds, words) => {
    expect(ago(NOW - seconds, NOW, trans)).toBe(words);
  });

  test('given more than two weeks, then the date', () => {
    expect(ago(NOW - 30 * 86400, NOW, trans)).toContain('2025');
  });

  test('given a clock of the server that is ahead, then just now and no negative time', () => {
    expect(ago(NOW + 500, NOW, trans)).toBe('just now');
  });
});

describe('a time that is shown', () => {
  test('given a run that goes on, when seconds pass, then it counts up', () => {
    show(<Elapsed from={NOW - 58} />);
    expect(screen.getByText('0:58')).toBeTruthy();
    pass(3);
    expect(screen.getByText('1:01')).toBeTruthy();
  });

  test('given a time since, when minutes pass, then it goes along, with the exact moment for machines', () => {
    const { container } = show(<Since at={NOW} />);
    expect(container.textContent).toBe('just now');
    pass(130);
    expect(container.textContent).toBe(`2${THIN}min ago`);
    expect(container.querySelector('time')?.getAttribute('datetime')).toBe('2025-12-01T12:00:00.000Z');
  });

  test('given a page that nobody sees, when seconds pass, then nothing is drawn', () => {
    show(<Elapsed from={NOW} />);
    vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
    pass(10);
    expect(screen.getByText('0:00')).toBeTruthy();
  });

  test('given a clock that stands still, when seconds pass, then it does', () => {
    const Still = (): JSX.Element => <span>{useNow(null)}</span>;
    const { container } = show(<Still />);
    pass(100);
    expect(container.textContent).toBe(String(NOW));
    expect(vi.getTimerCount()).toBe(0);
  });

  test('given a clock that is taken away, then its timer goes too', () => {
    show(<Elapsed from={NOW} />).unmount();
    expect(vi.getTimerCount()).toBe(0);
  });
});
