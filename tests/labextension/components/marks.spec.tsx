/** Small signs: status and severity by shape, empty places, boxes beside their anchors, how wide a thing is. */
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import React from 'react';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { Empty } from '../../../labextension/src/components/empty';
import { Floating } from '../../../labextension/src/components/floating';
import {
  Mark,
  markOf,
  markWords,
  SeverityMark,
  StatusMark
} from '../../../labextension/src/components/marks';
import { KERNEL_COLOURS, kernelColour, phaseLetter } from '../../../labextension/src/components/palette';
import { useWidth } from '../../../labextension/src/components/width';
import { Graph, Run } from '../../../labextension/src/records';
import { setWidth } from '../layout';
import { healthy, HTML } from '../reports';
import { expectAccessible, expectNoMarkup, show, trans } from '../view';

const MARKS: Mark[] = ['running', 'completed', 'failed', 'interrupted', 'lost', 'partial'];

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  document.body.replaceChildren();
});

describe('how a run stands', () => {
  const run = (changes: Partial<Run>): Run => ({ ...healthy().run, ...changes });

  test.each([
    ['completed', false, 'completed'],
    ['completed', true, 'partial'],
    ['failed', true, 'failed'],
    ['lost', true, 'lost'],
    ['running', false, 'running']
  ] as const)('given %s, partial %s, then it is marked as %s', (status, partial, mark) => {
    expect(markOf(run({ status, partial }))).toBe(mark);
  });

  test('given all ways to stand, then no two have the same shape or the same words', () => {
    const shapes = MARKS.map(mark =>
      render(<StatusMark mark={mark} trans={trans} />).container.querySelector('svg')
    );
    const drawings = shapes.map(shape => shape?.innerHTML.replace(/<title>.*<\/title>/, ''));
    expect(new Set(drawings).size).toBe(MARKS.length);
    expect(new Set(MARKS.map(mark => markWords(mark, trans))).size).toBe(MARKS.length);
  });

  test('given words beside it, then the mark itself is silent', () => {
    const { container } = render(<StatusMark mark="running" trans={trans} silent />);
    expect(screen.queryByRole('img')).toBeNull();
    expect(container.querySelector('svg')?.getAttribute('aria-hidden')).toBe('true');
  });

  test('given a status of a newer version, then its own word and a mark all the same', () => {
    render(<StatusMark mark={'paused' as Mark} trans={trans} />);
    expect(screen.getByRole('img', { name: 'paused' }).querySelector('path, circle')).not.toBeNull();
  });

  test('given the severities, then no two have the same shape', () => {
    const drawings = (['error', 'warning', 'info'] as const).map(
      severity =>
        render(<SeverityMark severity={severity} trans={trans} />).container.querySelectorAll('path')[0]
    );
    expect(new Set(drawings.map(path => path?.getAttribute('d'))).size).toBe(3);
  });
});

describe('the colours of kernels', () => {
  test('given more kernels than colours, then they begin again, and all are colours of the theme', () => {
    expect(kernelColour(KERNEL_COLOURS)).toBe(kernelColour(0));
    expect(new Set(Array.from({ length: KERNEL_COLOURS }, (_, nth) => kernelColour(nth))).size).toBe(
      KERNEL_COLOURS
    );
    expect(kernelColour(3)).toBe('var(--stc-kernel-3)');
  });

  test.each([
    ['forward', 'F'],
    ['backward', 'B'],
    ['optimizer', 'O'],
    ['inference', 'I'],
    ['joint', 'J'],
    ['warmup', 'W'],
    ['', '?'],
    ['constructor', 'C']
  ])('given the phase "%s", then the letter %s', (phase, letter) => {
    expect(phaseLetter(phase as Graph['phase'])).toBe(letter);
  });
});

describe('an empty place', () => {
  test('given a reason and what helps, then all of it is said', async () => {
    const { container } = show(
      <Empty title="No runs yet" reason="Nothing has trained." code="%load_ext stc" role="alert">
        <p>more</p>
      </Empty>
    );
    expect(screen.getByRole('alert').textContent).toContain('No runs yetNothing has trained.%load_ext stc');
    expect(screen.getByText('more')).toBeTruthy();
    await expectAccessible(container);
  });

  test('given HTML, then it is text', () => {
    const { container } = show(<Empty title={HTML} reason={HTML} code={HTML} />);
    expect(container.textContent).toContain(HTML);
    expectNoMarkup(container);
  });
});

describe('a box beside its anchor', () => {
  /** An anchor at a place of the window, and a box of a size. */
  function floating(anchor: DOMRect, box: DOMRect) {
    const element = document.body.appendChild(document.createElement('button'));
    vi.spyOn(element, 'getBoundingClientRect').mockReturnValue(anchor);
    vi.spyOn(HTMLDivElement.prototype, 'getBoundingClientRect').mockReturnValue(box);
    const onAway = vi.fn();
    render(
      <Floating anchor={element} onAway={onAway} role="tooltip">
        words
      </Floating>
    );
    return { onAway, element, style: screen.getByRole('tooltip').style };
  }
  const size = new DOMRect(0, 0, 200, 100);

  test('given room below, then it is below', () => {
    const { style } = floating(new DOMRect(50, 100, 20, 20), size);
    expect([style.top, style.left, style.visibility]).toEqual(['126px', '50px', 'visible']);
  });

  test('given no room below, then it is above', () => {
    const { style } = floating(new DOMRect(50, window.innerHeight - 30, 20, 20), size);
    expect(style.top).toBe(`${window.innerHeight - 30 - 6 - 100}px`);
  });

  test('given an anchor at the right edge, then the box stays inside the window', () => {
    const { style } = floating(new DOMRect(window.innerWidth - 10, 100, 20, 20), size);
    expect(style.left).toBe(`${window.innerWidth - 200 - 8}px`);
  });

  test('given a box wider than the window, then its beginning is in sight', () => {
    const { style } = floating(new DOMRect(50, 100, 20, 20), new DOMRect(0, 0, 5000, 100));
    expect(style.left).toBe('8px');
  });

  test('given scrolling that leaves the anchor where it is, then it stays; with the anchor, and it goes', () => {
    const { onAway, element } = floating(new DOMRect(50, 100, 20, 20), size);
    fireEvent.scroll(screen.getByRole('tooltip'));
    fireEvent.scroll(document);
    expect(onAway).not.toHaveBeenCalled();
    vi.spyOn(element, 'getBoundingClientRect').mockReturnValue(new DOMRect(50, 60, 20, 20));
    fireEvent.scroll(document);
    expect(onAway).toHaveBeenCalledOnce();
  });

  test('given a window that changes its size, then it goes', () => {
    const { onAway } = floating(new DOMRect(50, 100, 20, 20), size);
    fireEvent(window, new Event('resize'));
    expect(onAway).toHaveBeenCalledOnce();
  });
});

describe('how wide a thing is', () => {
  function Measured(): JSX.Element {
    const frame = React.useRef<HTMLDivElement>(null);
    return <div ref={frame}>{useWidth(frame)}</div>;
  }

  test('given a part with a width of its own, then it is wide from there on, and at first as it is told', () => {
    function Part(): JSX.Element {
      const frame = React.useRef<HTMLDivElement>(null);
      return <div ref={frame}>{useWidth(frame, 480, 'wide')}</div>;
    }
    const { container } = render(<Part />);
    expect(container.textContent).toBe('wide');
    for (const [pixels, shape] of [
      [479, 'narrow'],
      [480, 'wide']
    ] as const) {
      setWidth(pixels);
      expect([pixels, container.textContent]).toEqual([pixels, shape]);
    }
  });

  test('given a width, then narrow below 700 px and wide from there on; hidden, it stays as it was', () => {
    const { container } = render(<Measured />);
    expect(container.textContent).toBe('narrow');
    for (const [pixels, shape] of [
      [700, 'wide'],
      [699, 'narrow'],
      [1200, 'wide'],
      [0, 'wide'],
      [280, 'narrow']
    ] as const) {
      setWidth(pixels);
      expect([pixels, container.textContent]).toEqual([pixels, shape]);
    }
  });
});
