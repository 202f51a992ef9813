/** Figures in words. Expected texts are written with a plain space where the panel has a narrow one. */
import { describe, expect, test } from 'vitest';

import {
  bytes,
  count,
  duration,
  elapsed,
  percent,
  ratio,
  significant,
  spread,
  THIN,
  UNKNOWN
} from '../../labextension/src/format';

const plain = (text: string): string => text.split(THIN).join(' ');

describe('significant', () => {
  test.each([
    [0, '0'],
    [1, '1.00'],
    [1.234, '1.23'],
    [12.34, '12.3'],
    [123.4, '123'],
    [4800, '4,800'],
    [1234567, '1,234,567'],
    [0.001234, '0.00123'],
    [-18.44, '-18.4']
  ])('given %d, when written, then three digits count: %s', (value, text) => {
    expect(significant(value)).toBe(text);
  });

  test.each([
    [9.996, '10.0'],
    [99.96, '100'],
    [0.9996, '1.00']
  ])('given %d, which rounds up to a digit more, then it still has three: %s', (value, text) => {
    expect(significant(value)).toBe(text);
  });
});

describe('duration', () => {
  test.each([
    [0.0184, '18.4 ms'],
    [21, '21.0 s'],
    [0.000167, '167 µs'],
    [5e-8, '50.0 ns'],
    [3e-12, '0.00300 ns'],
    [0, '0 s'],
    [99.4, '99.4 s'],
    [200, '3 min 20 s'],
    [7500, '2 h 5 min']
  ])('given %d seconds, then %s', (seconds, text) => {
    expect(plain(duration(seconds))).toBe(text);
  });

  test('given 999.6 ms, then the unit changes instead of a fourth digit', () => {
    expect(plain(duration(0.9996))).toBe('1.00 s');
  });

  test.each([
    [7190, '2 h 0 min'],
    [3599.7, '1 h 0 min'],
    [86399, '24 h 0 min']
  ])('given %d seconds, just below a full hour, then there is no 60th minute: %s', (seconds, text) => {
    expect(plain(duration(seconds))).toBe(text);
  });
});

describe('elapsed', () => {
  test.each([
    [7.9, '0:07'],
    [750, '12:30'],
    [3750, '1:02:30'],
    [-3, '0:00']
  ])('given %d seconds, then whole ones count up: %s', (seconds, text) => {
    expect(elapsed(seconds)).toBe(text);
  });
});

describe('bytes', () => {
  test.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [3402000, '3.40 MB'],
    [999999, '1.00 MB'],
    [16e9, '16.0 GB'],
    [2.5e15, '2,500 TB']
  ])('given %d bytes, then decimal units: %s', (value, text) => {
    expect(plain(bytes(value))).toBe(text);
  });
});

describe('shares and ratios', () => {
  test.each([
    [0.64, '64 %'],
    [1, '100 %'],
    [0, '0 %'],
    [0.004, '0.4 %'],
    [0.001, '0.1 %'],
    [0.000999, '<0.1 %'],
    [-0.25, '-25 %']
  ])('given the share %d, then %s', (share, text) => {
    expect(plain(percent(share))).toBe(text);
  });

  test('given a ratio, then it ends with ×', () => {
    expect(ratio(1.3221)).toBe('1.32×');
  });

  test('given a count, then thousands are separated and nothing stands behind the point', () => {
    expect(count(8400.4)).toBe('8,400');
  });

  test('given a narrow interval, then its spread is one figure', () => {
    expect(plain(spread(1.3221, 1.2833, 1.3481))).toBe('±3 %');
  });

  test('given a wide interval, then both its ends are said', () => {
    expect(spread(1.5, 1.31, 5.2)).toBe('1.31× to 5.20×');
  });

  test.each([0, -1])('given a middle of %d, then no spread is claimed', middle => {
    expect(spread(middle, 0, 1)).toBe(UNKNOWN);
  });
});

describe('the unknown', () => {
  const formatters = { duration, bytes, count, ratio, percent };

  test.each(Object.entries(formatters))(
    'given nothing known, when %s writes it, then it is a dash',
    (_, write) => {
      for (const unknown of [null, undefined, NaN, Infinity]) {
        expect(write(unknown)).toBe(UNKNOWN);
      }
    }
  );

  test.each(Object.entries(formatters))('given zero, when %s writes it, then it is no dash', (_, write) => {
    expect(write(0)).toMatch(/^0/);
  });
});
