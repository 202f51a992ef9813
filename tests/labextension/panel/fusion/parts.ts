/** The view of graphs, kernels and code, and how a test finds its parts. */
import { screen } from '@testing-library/react';
import { Report } from '../../../../labextension/src/records';
import { healthy } from '../../reports';
import { openPanel, WIDE } from '../../wholepanel';

export const open = (report: Report = healthy(), setting: Parameters<typeof openPanel>[1] = {}) =>
  openPanel([report], { tab: 'fusion', width: WIDE, ...setting });
export const changed = (change: (report: Report) => void, report = healthy()): Report => {
  change(report);
  return report;
};

export const table = (name: 'Graphs' | 'Kernels'): HTMLElement =>
  [...document.querySelectorAll<HTMLElement>('.stc-Table')].find(
    one => one.ariaLabel === name || one.getAttribute('aria-label') === name
  )!;
export const rowsOf = (name: 'Graphs' | 'Kernels'): HTMLElement[] => [
  ...table(name).querySelectorAll<HTMLElement>('.stc-Table-row')
];
export const label = (row: HTMLElement): string => row.querySelector('.stc-Block')?.textContent ?? '';
export const labels = (): string => rowsOf('Kernels').map(label).join(' ');
export const kernelRow = (name: string): HTMLElement => rowsOf('Kernels').find(row => label(row) === name)!;
export const lit = (): string =>
  rowsOf('Kernels')
    .filter(row => row.classList.contains('stc-mod-lit'))
    .map(label)
    .join(' ');
export const line = (number: number): HTMLElement =>
  [...document.querySelectorAll<HTMLElement>('.stc-Lens-line')].find(
    one => one.querySelector('.stc-Lens-number')?.textContent === String(number)
  )!;
export const lineButton = (number: number): HTMLElement =>
  screen.getByRole('button', { name: new RegExp(`^Line ${number}:`) });
export const blocks = (number: number): string =>
  [...line(number).querySelectorAll('.stc-Block')].map(block => block.textContent).join(' ');
export const litLines = (): (string | null | undefined)[] =>
  [...document.querySelectorAll('.stc-Lens-line.stc-mod-lit')].map(
    one => one.querySelector('.stc-Lens-number')?.textContent
  );
export const field = (): HTMLElement =>
  screen.getByRole('searchbox', { name: 'Filter the kernels by name, operation or line' });
export const kernel = (): HTMLElement => screen.getByRole('article');
export const F3 = '0/0:forward#2';
