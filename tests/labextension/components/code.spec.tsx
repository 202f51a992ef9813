/** Generated code and the user's: coloured by the real parsers, never changed by them. */
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import { describe, expect, test, vi } from 'vitest';

import { Listing } from '../../../labextension/src/components/code';
import { CopyableCode } from '../../../labextension/src/components/copyable';
import {
  highlight,
  IPiece,
  plain,
  segments,
  withoutMagics
} from '../../../labextension/src/components/highlight';
import { Words } from '../../../labextension/src/components/words';
import { CODE, healthy, HTML, troubled } from '../reports';
import { expectAccessible, expectNoMarkup, show } from '../view';

const FORWARD = CODE['graph-0_0-forward.py'];

const textOf = (lines: readonly (readonly IPiece[])[]): string =>
  lines.map(line => line.map(piece => piece.text).join('')).join('\n');
const classesOf = (lines: readonly (readonly IPiece[])[], text: string): string[] =>
  lines.flatMap(line => line.filter(piece => piece.text === text).map(piece => piece.classes));

describe('highlighting', () => {
  test.each(Object.entries(CODE))(
    'given the generated %s, then not a letter of it is changed',
    async (_, code) => {
      const lines = await highlight(code, 'generated');
      expect(textOf(lines)).toBe(code);
      expect(lines).toHaveLength(code.split('\n').length);
    }
  );

  test.each([...healthy().sources, ...troubled().sources].map(({ text }) => [text]))(
    'given a cell of the user, then not a letter of it is changed: %#',
    async text => {
      expect(textOf(await highlight(text, 'user'))).toBe(text);
    }
  );

  test('given Python with C++ in a string, then each is coloured in its own language', async () => {
    expect(segments(FORWARD).map(({ language }) => language)).toContain('cpp');
    const lines = await highlight(FORWARD, 'generated');
    expect(classesOf(lines, 'import')[0]).toContain('tok-keyword');
    expect(classesOf(lines, 'for').concat(classesOf(lines, 'void'))[0]).toMatch(/tok-(keyword|typeName)/);
  });

  test('given a part of a file that begins in the middle of a kernel, then it is C++', () => {
    const part = FORWARD.split('\n').slice(4, 13).join('\n');
    expect(segments(part).map(({ language }) => language)).toContain('cpp');
  });

  test.each([
    ['for (int64_t x0 = 0; x0 < 64; x0 += 16)', 'cpp'],
    ['def call(args):\n    return args', 'python']
  ])('given %j without any string, then it is %s', (text, language) => {
    expect(segments(text)).toEqual([{ language, text }]);
  });

  test('given a cell with a magic and a shell line, then they do not spoil the colours of the rest', async () => {
    const cell = '%%stc_compile --name it\'s\n!pip list | grep "torch\nfor x in loader:\n    pass';
    const lines = await highlight(cell, 'user');
    expect(textOf(lines)).toBe(cell);
    expect(classesOf(lines, 'for')).toEqual(['tok-keyword']);
    expect(classesOf(lines, 'pass')).toEqual(['tok-keyword']);
  });

  test('given magics, then the text without them is as long as before', () => {
    expect(withoutMagics('  %time x\n!ls\ny = 7 % 3')).toBe('  #time x\n#ls\ny = 7 % 3');
  });

  test('given a file that is too long to parse while somebody waits, then it is plain', async () => {
    const long = 'x = 1\n'.repeat(60_000);
    const lines = await highlight(long, 'generated');
    expect(lines.every(line => line.every(piece => piece.classes === ''))).toBe(true);
    expect(lines).toHaveLength(60_001);
  });

  test.each(['', '\n', 'def f(:\n  """', '\u0000\ud800', HTML])('given %j, then it is kept', async text => {
    expect(textOf(await highlight(text, 'generated'))).toBe(text);
    expect(textOf(plain(text))).toBe(text);
  });
});

describe('a listing', () => {
  test('given code, then it is there at once, numbered as in its file, and later in colour', async () => {
    const { container } = show(
      <Listing text={'import torch\nx = 1'} firstLine={41} label="Generated code" />
    );
    const region = screen.getByRole('region', { name: 'Generated code' });
    expect(region.textContent).toBe('41import torch42x = 1');
    await waitFor(() => expect(container.querySelector('.tok-keyword')?.textContent).toBe('import'));
    expect(region.textContent).toBe('41import torch42x = 1');
    await expectAccessible(container);
  });

  test('given a long file, then its rest is there on demand', async () => {
    const { container } = show(
      <Listing text={Array(1000).fill('pass').join('\n')} firstLine={1} label="Generated code" />
    );
    expect(container.querySelectorAll('.stc-Listing-line')).toHaveLength(400);
    await userEvent.click(screen.getByRole('button', { name: 'Show all 1000 lines' }));
    expect(container.querySelectorAll('.stc-Listing-line')).toHaveLength(1000);
    expect(screen.queryByRole('button', { name: /Show all/ })).toBeNull();
  });

  test('given HTML in the code, then it is text', async () => {
    const { container } = show(<Listing text={HTML} firstLine={1} label="Generated code" />);
    await waitFor(() => expect(container.querySelector('[class^="tok-"]')).not.toBeNull());
    expect(container.textContent).toContain(HTML);
    expectNoMarkup(container);
  });

  test('given other code in its place, then no piece of the old one stays', async () => {
    const { container, rerender } = show(<Listing text="import old" firstLine={1} label="Code" />);
    await waitFor(() => expect(container.querySelector('.tok-keyword')).not.toBeNull());
    rerender(<Listing text="del new" firstLine={1} label="Code" />);
    expect(screen.getByRole('region').textContent).toBe('1del new');
    await waitFor(() => expect(container.querySelector('.tok-keyword')?.textContent).toBe('del'));
  });
});

describe('code to copy', () => {
  const faces = [
    ['CopyableCode', <CopyableCode key="a" code="y.detach()" />, 'Copy code', 'y.detach()'],
    ['Listing', <Listing key="b" text="z = 1" firstLine={1} label="Code" />, 'Copy', 'z = 1']
  ] as const;

  test.each(faces)(
    'given %s, when copied, then the clipboard has the code and it is said',
    async (_, face, name, code) => {
      const user = userEvent.setup();
      show(face);
      await user.click(screen.getByRole('button', { name }));
      expect(await navigator.clipboard.readText()).toBe(code);
      expect((await screen.findByRole('status')).textContent).toBe('Copied');
    }
  );

  test.each(faces)(
    'given %s on a page without a clipboard, then it says what to do instead',
    async (_, face, name) => {
      const user = userEvent.setup();
      vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('not allowed'));
      show(face);
      await user.click(screen.getByRole('button', { name }));
      await waitFor(() => expect(screen.getByRole('status').textContent).toBe('Select and copy'));
    }
  );
});

describe('sentences of the record', () => {
  test('given backticks, then what stands between them is code', () => {
    const { container } = show(<Words text="`self.seen == 8` changed in `forward`." />);
    expect([...container.querySelectorAll('code')].map(code => code.textContent)).toEqual([
      'self.seen == 8',
      'forward'
    ]);
    expect(container.textContent).toBe('self.seen == 8 changed in forward.');
  });

  test.each(['a single ` stays', '``', '', HTML, `\`${HTML}\``])(
    'given %j, then nothing is lost or becomes markup',
    text => {
      const { container } = show(<Words text={text} />);
      expect(container.textContent?.replace(/`/g, '')).toBe(text.replace(/`/g, ''));
      expectNoMarkup(container);
    }
  );
});
