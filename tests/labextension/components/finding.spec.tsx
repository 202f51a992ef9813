/** A finding: what is wrong, where, the evidence, and what to do about it. */
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import { describe, expect, test, vi } from 'vitest';

import { evidenceText, FindingCard, findingKey } from '../../../labextension/src/components/finding';
import { Finding } from '../../../labextension/src/records';
import { THIN, UNKNOWN } from '../../../labextension/src/format';
import { healthy, HTML, leftEager, place, troubled } from '../reports';
import { expectAccessible, expectNoMarkup, show } from '../view';

const LIMIT = troubled().findings[0];
const nothing = (): void => undefined;

function card(finding: Finding, props: Partial<Parameters<typeof FindingCard>[0]> = {}) {
  return show(
    <ul>
      <FindingCard finding={finding} open={true} onToggle={nothing} {...props} />
    </ul>
  );
}

describe('a card', () => {
  test.each(
    [...troubled().findings, ...leftEager().findings].map(finding => [finding.code, finding] as const)
  )('given the finding %s, when open, then all of it is there and reachable', async (_, finding) => {
    const { container } = card(finding);
    const text = container.textContent;
    expect(text).toContain(finding.message.replace(/`/g, ''));
    expect(text).toContain(finding.code);
    for (const { label, value } of finding.evidence) {
      expect(text).toContain(label);
      expect(typeof value === 'string' ? text?.includes(value) : true).toBe(true);
    }
    expect(text).toContain(finding.next_step?.text.replace(/`/g, ''));
    expect(text).toContain(finding.next_step?.code ?? '');
    await expectAccessible(container);
  });

  test('given a folded one, then severity, sentence and place, and the rest is not there', () => {
    const { container } = card(LIMIT, { open: false });
    expect(screen.getByRole('img', { name: 'Error' })).toBeTruthy();
    expect(screen.getByRole('button', { name: /not compiled any more/ }).ariaExpanded).toBe('false');
    expect(screen.getByRole('button', { name: 'Go to In[1], line 16' })).toBeTruthy();
    expect(container.textContent).not.toContain('What to do');
  });

  test('given a card, when its sentence is pressed, then it asks to be folded', async () => {
    const onToggle = vi.fn();
    card(LIMIT, { onToggle });
    await userEvent.click(screen.getByRole('button', { name: /not compiled any more/, expanded: true }));
    expect(onToggle).toHaveBeenCalledOnce();
  });

  test('given a view that shows it, when asked for, then it is shown', async () => {
    const onShow = vi.fn();
    card(LIMIT, { onShow, showLabel: 'Show in Breaks' });
    await userEvent.click(screen.getByRole('button', { name: 'Show in Breaks' }));
    expect(onShow).toHaveBeenCalledOnce();
  });

  test('given neither place nor evidence nor a next step, then what is left is said without empty headings', () => {
    const { container } = card({ ...LIMIT, location: null, evidence: [], next_step: null });
    expect(within(container).queryByText('What to do')).toBeNull();
    expect(container.querySelector('dl')).toBeNull();
  });

  test('given a next step in words only, then there is no code to copy', () => {
    card({ ...LIMIT, next_step: { text: 'Use a larger batch.', code: null } });
    expect(screen.getByText('Use a larger batch.')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Copy code' })).toBeNull();
  });

  test('given a severity of a newer version, then it is a note', () => {
    card({ ...LIMIT, severity: 'catastrophe' as Finding['severity'] });
    expect(screen.getByRole('img', { name: 'Note' })).toBeTruthy();
  });

  test('given HTML everywhere, then it is text', () => {
    const { container } = card({
      code: HTML,
      severity: 'error',
      message: HTML,
      location: place({ file: HTML, text: HTML }),
      evidence: [{ label: HTML, value: HTML, unit: HTML }],
      next_step: { text: HTML, code: HTML },
      subject: null
    });
    expect(container.textContent).toContain(HTML);
    expectNoMarkup(container);
  });
});

describe('evidence', () => {
  test.each([
    [0.000167, 's', `167${THIN}µs`],
    [3402000, 'bytes', `3.40${THIN}MB`],
    [512, 'B', `512${THIN}B`],
    [111982, null, '111,982'],
    [0.1234, null, '0.123'],
    [8, 'recompilations', `8${THIN}recompilations`],
    [1.5, '×', `1.50${THIN}×`],
    ['0 → 7', null, '0 → 7'],
    ['bf16', 'precision', `bf16${THIN}precision`],
    [null, 's', UNKNOWN],
    [0, null, '0']
  ])('given %j in %s, then %s', (value, unit, text) => {
    expect(evidenceText({ label: '', value, unit })).toBe(text);
  });
});

describe('the key of a finding', () => {
  test.each([
    ['code', { code: 'graph-break' }],
    ['subject', { subject: 'another' }],
    ['file', { location: place({ file: 'In[9]' }) }],
    ['line', { location: place({ line: 99 }) }],
    ['place', { location: null }]
  ])('given another %s, then it is another', (_, change) => {
    const finding = { ...LIMIT, location: place() };
    expect(findingKey({ ...finding, ...change })).not.toBe(findingKey(finding));
  });

  test('given figures that grow, then it stays', () => {
    const grown = { ...LIMIT, message: 'Another sentence.', evidence: [] };
    expect(findingKey(grown)).toBe(findingKey(LIMIT));
  });

  test.each([
    ['troubled', troubled()],
    ['healthy', healthy()]
  ])('given the findings of one report, then no two share it: %s', (_, { findings }) => {
    expect(new Set(findings.map(findingKey)).size).toBe(findings.length);
  });
});
