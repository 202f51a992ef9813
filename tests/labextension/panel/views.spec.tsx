/**
 * What holds for every view, at any width, of any record: also of one with HTML in its names, of one that a newer version
 * wrote, and of one of which next to nothing is known.
 */
import { waitFor } from '@testing-library/react';
import { describe, expect, test } from 'vitest';

import { Report } from '../../../labextension/src/records';
import { TABS } from '../../../labextension/src/tokens';
import { ALL, healthy, HTML, troubled } from '../reports';
import { expectAccessible, expectNoMarkup } from '../view';
import { NARROW, openPanel, WIDE } from '../wholepanel';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A copy in which `change` has been applied to everything, from the inside out. */
function mapped(value: Json, change: (value: Json, key: string) => Json, key = ''): Json {
  const inner = Array.isArray(value)
    ? value.map(one => mapped(one, change, key))
    : value !== null && typeof value === 'object'
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapped(one, change, name)]))
      : value;
  return change(inner, key);
}
const changed = (report: Report, change: (value: Json, key: string) => Json): Report =>
  mapped(report as unknown as Json, change) as unknown as Report;

/** Words that the record chooses from a list, ids, and what is not text at all. */
const NOT_FREE = new Set([
  ...['id', 'kind', 'status', 'state', 'phase', 'outcome', 'severity', 'action', 'role', 'first', 'second'],
  ...['subject', 'artefact', 'artefacts', 'code', 'cell_id', 'schema_version']
]);

/** HTML behind every text that comes from outside. */
const withHtml = (report: Report): Report =>
  changed(report, (value, key) => (typeof value === 'string' && !NOT_FREE.has(key) ? value + HTML : value));

/** Fields that nobody knows, and words that are on no list. */
function newer(report: Report): Report {
  const listed = new Set(['kind', 'state', 'phase', 'outcome', 'severity', 'action', 'role']);
  const strange = changed(report, (value, key) => {
    if (value !== null && typeof value === 'object' && !Array.isArray(value) && key !== 'options') {
      return { ...value, weather: { wind: [1, 2, 3] } };
    }
    return typeof value === 'string' && listed.has(key) ? `new-${value}` : value;
  });
  return { ...strange, schema_version: 2 };
}

/** Whatever may be unknown is, and every list is empty. */
const bare = (report: Report): Report => {
  const keep = new Set([
    'graphs',
    'kernels',
    'breaks',
    'recompilations',
    'limits',
    'findings',
    'units',
    'phases'
  ]);
  const required = new Set(['line', 'started_at', 'schema_version', 'self_s', 'limit', 'total', 'count']);
  return changed(report, (value, key) => {
    if (Array.isArray(value)) {
      return keep.has(key) ? value : [];
    }
    const isTiming = ['eager', 'compiled', 'bytes', 'cache', 'decision', 'location', 'speedup'].includes(key);
    return (typeof value === 'number' && !required.has(key)) || isTiming ? null : value;
  });
};

const RECORDS: readonly (readonly [string, () => Report])[] = [
  ...ALL,
  ['healthy, with HTML in every text', () => withHtml(healthy())],
  ['troubled, with HTML in every text', () => withHtml(troubled())],
  ['healthy, by a newer version', () => newer(healthy())],
  ['troubled, by a newer version', () => newer(troubled())],
  ['healthy, with next to nothing known', () => bare(healthy())],
  ['troubled, with next to nothing known', () => bare(troubled())]
];

describe.each(RECORDS)('given the record %s', (_, report) => {
  describe.each([NARROW, WIDE])('at %d px', width => {
    test.each(TABS)(
      'when %s is shown, then it reads well, explains itself and is open to everybody',
      async tab => {
        const { container } = await openPanel([report()], { tab, width });
        await waitFor(() => expect(container.textContent).not.toContain('Loading'));
        expect(container.textContent).not.toMatch(/\b(NaN|undefined|null|Infinity)\b|\[object/);
        expectNoMarkup(document.body);
        await expectAccessible(container);
      }
    );
  });
});

describe.each(ALL)('given the record %s', (_, report) => {
  test.each(TABS)('when %s is shown, then no figure is without its definition', async tab => {
    const { container } = await openPanel([report()], { tab, width: WIDE });
    const unexplained = [...container.querySelectorAll('.stc-Figure:not(.stc-mod-explained)')];
    expect(unexplained.map(figure => figure.textContent)).toEqual([]);
  });
});

describe('given a record of a newer version', () => {
  test('when it is shown, then that is said; of this version, it is not', async () => {
    const { container } = await openPanel([newer(healthy())]);
    expect(container.textContent).toContain('recorded by a newer version');
    expect(container.textContent).toContain(healthy().headline);
  });

  test('when it is of this version, then nothing is said of versions', async () => {
    const { container } = await openPanel([healthy()]);
    expect(container.textContent).not.toContain('newer version');
  });
});

describe('given two hundred graphs and ten thousand kernels', () => {
  test('when the kernels are shown, then few of them are drawn and each has a label of its own', async () => {
    const report = healthy();
    const [graph] = report.compile.graphs;
    report.compile.graphs = Array.from({ length: 200 }, (_, at) => ({
      ...graph,
      id: `${at}/0:forward`,
      kernels: Array.from({ length: 50 }, (__, nth) => ({
        ...graph.kernels[nth % graph.kernels.length],
        id: `${at}/0:forward#${nth}`
      }))
    }));
    const { container, getByRole } = await openPanel([report], { tab: 'fusion', width: WIDE });
    const table = getByRole('grid', { name: 'Kernels' });
    expect(table.getAttribute('aria-rowcount')).toBe('10001');
    expect(table.querySelectorAll('[role="row"]').length).toBeLessThan(100);
    expect(container.querySelectorAll('*').length).toBeLessThan(8000);
  });
});
