/**
 * Figures in words: three significant digits, SI units, a thin space before the unit, ratios with ×.
 *
 * Unknown is a dash, never a zero.
 */

/** Narrow, and does not break between the figure and its unit. */
export const THIN = '\u202f';
export const UNKNOWN = '–';

/** Three significant digits, without an exponent; whole numbers from 100 on with separators: "4,800". */
export function significant(value: number, digits = 3): string {
  if (value === 0) {
    return '0';
  }
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  const decimals = Math.max(0, digits - 1 - magnitude);
  const rounded = Number(value.toFixed(Math.min(decimals, 20)));
  // 9.996 rounds to 10.00, which has a digit too many.
  const places = Math.abs(rounded) >= 10 ** (magnitude + 1) ? Math.max(0, decimals - 1) : decimals;
  return rounded.toLocaleString('en', { minimumFractionDigits: places, maximumFractionDigits: places });
}

function scaled(value: number, steps: readonly (readonly [number, string])[]): string {
  const size = Math.abs(value);
  for (const [factor, unit] of steps) {
    // 999.6 of a unit would be written as 1,000 of it.
    if (size >= factor * 0.9995) {
      return `${significant(value / factor)}${THIN}${unit}`;
    }
  }
  const [factor, unit] = steps[steps.length - 1];
  return `${significant(value / factor)}${THIN}${unit}`;
}

const isKnown = (value: number | null | undefined): value is number =>
  value !== null && value !== undefined && Number.isFinite(value);

const SECONDS = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
  [1e-9, 'ns']
] as const;

/** "18.4 ms", "21.0 s", "3 min 20 s", "2 h 5 min". */
export function duration(seconds: number | null | undefined): string {
  if (!isKnown(seconds)) {
    return UNKNOWN;
  }
  if (seconds === 0) {
    return `0${THIN}s`;
  }
  const whole = Math.round(seconds);
  if (whole >= 3600) {
    // Rounded before it is divided: 7,190 s are 2 h 0 min, not 1 h 60 min.
    const minutes = Math.round(whole / 60);
    return `${Math.floor(minutes / 60)}${THIN}h ${minutes % 60}${THIN}min`;
  }
  if (whole >= 100) {
    return `${Math.floor(whole / 60)}${THIN}min ${whole % 60}${THIN}s`;
  }
  return scaled(seconds, SECONDS);
}

/** Whole seconds for something that counts up: "0:07", "12:30", "1:02:30". */
export function elapsed(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

const BYTES = [
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
  [1, 'B']
] as const;

/** "1.23 MB": decimal, as bandwidths are. */
export function bytes(value: number | null | undefined): string {
  if (!isKnown(value)) {
    return UNKNOWN;
  }
  return Math.abs(value) < 1000 ? `${value}${THIN}B` : scaled(value, BYTES);
}

/** "4,800" */
export function count(value: number | null | undefined): string {
  return isKnown(value) ? value.toLocaleString('en', { maximumFractionDigits: 0 }) : UNKNOWN;
}

/** "1.31×" */
export function ratio(value: number | null | undefined): string {
  return isKnown(value) ? `${significant(value)}×` : UNKNOWN;
}

/** "64 %", of a share between 0 and 1; less than a tenth of one is "<0.1 %". */
export function percent(share: number | null | undefined): string {
  if (!isKnown(share)) {
    return UNKNOWN;
  }
  const value = share * 100;
  if (value > 0 && value < 0.1) {
    return `<0.1${THIN}%`;
  }
  return `${Math.abs(value) >= 1 || value === 0 ? Math.round(value) : significant(value, 1)}${THIN}%`;
}

/** An interval around a ratio: "±2 %", or where it is wide and lopsided its two ends: "1.31× to 5.2×". */
export function spread(middle: number, low: number, high: number): string {
  if (middle <= 0) {
    return UNKNOWN;
  }
  const half = Math.max(middle - low, high - middle) / middle;
  return half > 0.2 ? `${ratio(low)} to ${ratio(high)}` : `±${percent(half)}`;
}
