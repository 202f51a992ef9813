/** The user's own lines, and what became of each: the kernels, nothing at all, or a break. */
import { Break, Graph, Location, Report, Source } from '../../records';
import { IKernelRow } from './kernels';

export interface ILineKernel {
  row: IKernelRow;
  /** How many operations of that line are in the kernel. */
  ops: number;
}

export interface ILensLine {
  number: number;
  text: string;
  kernels: readonly ILineKernel[];
  /** Graphs in which its operations became nothing. */
  folded: readonly Graph[];
  breaks: readonly Break[];
}

export interface ILensFile {
  /** As in `Location.file`. */
  file: string;
  /** Null where the file's text was not recorded: then only the lines that locations quote are known. */
  source: Source | null;
  lines: readonly ILensLine[];
}

interface IMutableLine {
  kernels: Map<string, { row: IKernelRow; ops: number }>;
  folded: Set<Graph>;
  breaks: Set<Break>;
  text: string | null;
}

type Found = Map<string, Map<number, IMutableLine>>;

function lineOf(found: Found, location: Location): IMutableLine {
  let file = found.get(location.file);
  if (!file) {
    file = new Map();
    found.set(location.file, file);
  }
  let line = file.get(location.line);
  if (!line) {
    line = { kernels: new Map(), folded: new Set(), breaks: new Set(), text: location.text };
    file.set(location.line, line);
  }
  return line;
}

/** Files with at least one line that a kernel, a fold or a break is about, in the order of the report's sources. */
export function lensOf(report: Report, rows: readonly IKernelRow[], graphs: readonly Graph[]): ILensFile[] {
  const found: Found = new Map();
  for (const row of rows) {
    for (const { location } of row.kernel.ops) {
      if (location) {
        const { kernels } = lineOf(found, location);
        const entry = kernels.get(row.kernel.id);
        if (entry) {
          entry.ops += 1;
        } else {
          kernels.set(row.kernel.id, { row, ops: 1 });
        }
      }
    }
  }
  for (const graph of graphs) {
    for (const location of graph.folded) {
      lineOf(found, location).folded.add(graph);
    }
  }
  for (const broken of report.compile.breaks) {
    if (broken.location && !broken.benign) {
      lineOf(found, broken.location).breaks.add(broken);
    }
  }
  const names = [
    ...report.sources.map(source => source.file),
    ...[...found.keys()].filter(file => report.sources.every(source => source.file !== file))
  ];
  return names
    .filter(file => found.has(file))
    .map(file => fileOf(file, report.sources.find(source => source.file === file) ?? null, found));
}

function fileOf(file: string, source: Source | null, found: Found): ILensFile {
  const known = found.get(file) ?? new Map<number, IMutableLine>();
  const settled = (number: number, text: string): ILensLine => {
    const line = known.get(number);
    return {
      number,
      text,
      kernels: line ? [...line.kernels.values()] : [],
      folded: line ? [...line.folded] : [],
      breaks: line ? [...line.breaks] : []
    };
  };
  if (source === null) {
    const numbers = [...known.keys()].sort((a, b) => a - b);
    return { file, source, lines: numbers.map(number => settled(number, known.get(number)?.text ?? '')) };
  }
  const texts = source.text.replace(/\n$/, '').split('\n');
  return { file, source, lines: texts.map((text, index) => settled(source.first_line + index, text)) };
}

export const isMarked = (line: ILensLine): boolean =>
  line.kernels.length > 0 || line.folded.length > 0 || line.breaks.length > 0;

export interface IStretch {
  /** Whether these lines are shown, or stand behind a button. */
  shown: boolean;
  lines: readonly ILensLine[];
}

/** Unmarked lines kept on either side of a marked one. */
const CONTEXT = 4;
/** A gap shorter than this is not worth a button. */
const SHORTEST = 6;

/** Long stretches that became no operation are put aside, so that a long cell shows what matters of it. */
export function stretches(lines: readonly ILensLine[]): IStretch[] {
  const near = new Set<number>();
  lines.forEach((line, index) => {
    if (isMarked(line)) {
      for (let at = index - CONTEXT; at <= index + CONTEXT; at++) {
        near.add(at);
      }
    }
  });
  const found: { shown: boolean; lines: ILensLine[] }[] = [];
  lines.forEach((line, index) => {
    const shown = near.has(index);
    const last = found[found.length - 1];
    if (last?.shown === shown) {
      last.lines.push(line);
    } else {
      found.push({ shown, lines: [line] });
    }
  });
  return found.map(stretch =>
    !stretch.shown && stretch.lines.length < SHORTEST ? { ...stretch, shown: true } : stretch
  );
}
