/** Parts of the panel drawn for a test: with the context that they ask for, and what was asked of it. */
import { render, RenderResult } from '@testing-library/react';
import axe from 'axe-core';
import React from 'react';
import { nullTranslator } from '@jupyterlab/translation';
import { expect, vi } from 'vitest';

import { IPanelContext, PanelContext } from '../../labextension/src/components/context';
import { OpenOutcome } from '../../labextension/src/tokens';

export const trans = nullTranslator.load('jupyterlab_stc');

/** A context whose navigator has nothing open, unless something else is said. */
export function contextOf(changes: Partial<IPanelContext> = {}) {
  return {
    trans,
    sources: [],
    openLocation: vi.fn(async (): Promise<OpenOutcome> => 'not-open'),
    openClosed: vi.fn(async (): Promise<OpenOutcome> => 'not-open'),
    canOpen: vi.fn(() => false),
    ...changes
  } satisfies IPanelContext;
}

export function show(element: JSX.Element, context: IPanelContext = contextOf()): RenderResult {
  return render(element, {
    wrapper: ({ children }) => <PanelContext.Provider value={context}>{children}</PanelContext.Provider>
  });
}

/** Contrast and ligatures need a browser that paints; the page around the panel is JupyterLab's. */
const OFF = [
  'color-contrast',
  'label-content-name-mismatch',
  'region',
  'page-has-heading-one',
  'landmark-one-main',
  'heading-order'
];

/** Nothing that axe finds stands in the way of people who use a keyboard or a screen reader. */
export async function expectAccessible(element: Element): Promise<void> {
  const { violations } = await axe.run(element, {
    rules: Object.fromEntries(OFF.map(rule => [rule, { enabled: false }]))
  });
  expect(
    violations.flatMap(({ id, help, nodes }) =>
      nodes.map(node => `${id}: ${help}: ${node.html.slice(0, 160)}`)
    )
  ).toEqual([]);
}

/** No element came of a text, and none of its scripts ran. */
export function expectNoMarkup(element: Element): void {
  expect(element.querySelectorAll('img, script, b, iframe')).toHaveLength(0);
  expect('stcWasHere' in window).toBe(false);
}
