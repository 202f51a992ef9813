/**
 * One colour a kernel, from nine that colour-blind readers can tell apart (style/fusion.css has their values).
 *
 * There are more kernels than colours, so a kernel always has a letter and a number as well: "F3" is the third forward one.
 */
import { Graph } from '../records';

export const KERNEL_COLOURS = 9;

/** The CSS colour of the nth kernel of a graph. */
export function kernelColour(nth: number): string {
  return `var(--stc-kernel-${nth % KERNEL_COLOURS})`;
}

const LETTERS: ReadonlyMap<string, string> = new Map([
  ['forward', 'F'],
  ['backward', 'B'],
  ['optimizer', 'O'],
  ['inference', 'I'],
  ['joint', 'J']
]);

/** "F" for forward. A phase of a newer record has its own first letter. */
export function phaseLetter(phase: Graph['phase']): string {
  const name: string = phase;
  return LETTERS.get(name) ?? (name.charAt(0).toUpperCase() || '?');
}
