/**
 * Code cut into coloured pieces, with the parsers that JupyterLab already carries.
 *
 * Generated code is Python that holds C++ or Triton in long strings; each part is parsed in its own language.
 */
import { classHighlighter, highlightTree } from '@lezer/highlight';
import React from 'react';

export type Language = 'python' | 'cpp';

export interface IPiece {
  text: string;
  /** Classes of the kind "tok-keyword"; empty for plain text. */
  classes: string;
}

interface ISegment {
  language: Language;
  text: string;
}

type Parser = Parameters<typeof highlightTree>[0] extends infer Tree
  ? { parse: (code: string) => Tree }
  : never;

/** Longer than this it is shown without colours: parsing would hold up the panel. */
const LONGEST = 300_000;

const NAMES: Readonly<Record<Language, string>> = { python: 'Python', cpp: 'C++' };
const parsers = new Map<Language, Promise<Parser | null>>();

function parserOf(language: Language): Promise<Parser | null> {
  let parser = parsers.get(language);
  if (!parser) {
    parser = load(language);
    parsers.set(language, parser);
  }
  return parser;
}

async function load(language: Language): Promise<Parser | null> {
  try {
    const { EditorLanguageRegistry } = await import('@jupyterlab/codemirror');
    const known = EditorLanguageRegistry.getDefaultLanguages().find(
      candidate => candidate.name === NAMES[language] || candidate.alias?.includes(language)
    );
    return (await known?.load?.())?.language.parser ?? null;
  } catch (reason) {
    console.warn(`No colours for ${language}:`, reason);
    return null;
  }
}

const QUOTES = /r?("""|''')/g;
const LOOKS_LIKE_CPP = /extern "C"|#include|#pragma|\bint64_t\b|\bauto\b.*;/;

/** Python, with the C++ in its long strings apart. The text may begin or end within such a string. */
export function segments(text: string): ISegment[] {
  const marks = [...text.matchAll(QUOTES)].map(found => found.index + found[0].length);
  if (marks.length === 0) {
    return [{ language: LOOKS_LIKE_CPP.test(text) ? 'cpp' : 'python', text }];
  }
  const found: ISegment[] = [];
  let start = 0;
  for (const end of [...marks, text.length]) {
    if (end > start) {
      const piece = text.slice(start, end);
      found.push({ language: LOOKS_LIKE_CPP.test(piece) ? 'cpp' : 'python', text: piece });
    }
    start = end;
  }
  return found;
}

/** A cell's own magics and shell lines are not Python; as comments they do not confuse its parser. */
export function withoutMagics(text: string): string {
  return text.replace(/^(\s*)[%!]/gm, '$1#');
}

function pieces(code: string, shown: string, parser: Parser): IPiece[] {
  const found: IPiece[] = [];
  let at = 0;
  highlightTree(parser.parse(code), classHighlighter, (from, to, classes) => {
    if (from > at) {
      found.push({ text: shown.slice(at, from), classes: '' });
    }
    found.push({ text: shown.slice(from, to), classes });
    at = to;
  });
  if (at < shown.length) {
    found.push({ text: shown.slice(at), classes: '' });
  }
  return found;
}

/** Pieces put into lines; one that spans several lines is cut. */
function lines(all: readonly IPiece[]): IPiece[][] {
  const found: IPiece[][] = [[]];
  for (const { text, classes } of all) {
    text.split('\n').forEach((part, index) => {
      if (index > 0) {
        found.push([]);
      }
      if (part) {
        found[found.length - 1].push({ text: part, classes });
      }
    });
  }
  return found;
}

export const plain = (text: string): IPiece[][] => lines([{ text, classes: '' }]);

export async function highlight(text: string, kind: 'user' | 'generated'): Promise<IPiece[][]> {
  if (text.length > LONGEST) {
    return plain(text);
  }
  const parts: ISegment[] = kind === 'user' ? [{ language: 'python', text }] : segments(text);
  const coloured: IPiece[] = [];
  for (const part of parts) {
    const parser = await parserOf(part.language);
    const code = kind === 'user' ? withoutMagics(part.text) : part.text;
    coloured.push(...(parser ? pieces(code, part.text, parser) : [{ text: part.text, classes: '' }]));
  }
  return lines(coloured);
}

/** The text's lines: plain at once, in colour as soon as the parsers are there. */
export function useHighlighted(text: string, kind: 'user' | 'generated'): IPiece[][] {
  const [coloured, setColoured] = React.useState<{ text: string; lines: IPiece[][] } | null>(null);
  React.useEffect(() => {
    let wanted = true;
    void highlight(text, kind).then(found => wanted && setColoured({ text, lines: found }));
    return () => {
      wanted = false;
    };
  }, [text, kind]);
  const uncoloured = React.useMemo(() => plain(text), [text]);
  return coloured?.text === text ? coloured.lines : uncoloured;
}
