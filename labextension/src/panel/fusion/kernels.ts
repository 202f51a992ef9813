/** The report's kernels as rows: each with its graph, its colour and its label, made once for a report. */
import { kernelColour, phaseLetter } from '../../components/palette';
import { Graph, Kernel, Location, NotFused, Operation, Report } from '../../records';
import { ILine } from '../../tokens';

export interface IKernelRow {
  kernel: Kernel;
  graph: Graph;
  /** "F3": the third kernel of the forward graphs. */
  label: string;
  colour: string;
  /** Bytes in and out; null where one of them is not known. */
  bytes: number | null;
  /** Of the bytes of its graph's kernels that are known. */
  share: number | null;
  /** Place in the report. */
  order: number;
}

export interface IKernels {
  rows: readonly IKernelRow[];
  byId: ReadonlyMap<string, IKernelRow>;
  graphs: ReadonlyMap<string, Graph>;
}

export function kernelsOf(report: Report): IKernels {
  const rows: IKernelRow[] = [];
  const counts = new Map<string, number>();
  for (const graph of report.compile.graphs) {
    const letter = phaseLetter(graph.phase);
    const total = graph.kernels.reduce((sum, kernel) => sum + (moved(kernel) ?? 0), 0);
    graph.kernels.forEach((kernel, nth) => {
      const number = (counts.get(letter) ?? 0) + 1;
      counts.set(letter, number);
      rows.push({
        kernel,
        graph,
        label: `${letter}${number}`,
        colour: kernelColour(nth),
        bytes: moved(kernel),
        share: total > 0 ? share(moved(kernel), total) : null,
        order: rows.length
      });
    });
  }
  return {
    rows,
    byId: new Map(rows.map(row => [row.kernel.id, row])),
    graphs: new Map(report.compile.graphs.map(graph => [graph.id, graph]))
  };
}

function moved(kernel: Kernel): number | null {
  return kernel.bytes_read === null || kernel.bytes_written === null
    ? null
    : kernel.bytes_read + kernel.bytes_written;
}

const share = (part: number | null, total: number): number | null => (part === null ? null : part / total);

/** How many loop nests a kernel has; library calls and fallbacks have none. */
export function groupCount(kernel: Kernel): number | null {
  return kernel.groups.length > 0 ? kernel.groups.length : null;
}

/**
 * "native_batch_norm, relu" out of "cpp_fused_native_batch_norm_relu_0": what tells kernels apart, without what all of them share.
 */
export function shortName(name: string): string {
  const inner = /^(?:cpp|triton)_(?:[a-z]{3}_)?fused_+(.+?)(?:_\d+)?$/.exec(name);
  // A kernel that Inductor added by itself is named after no operation.
  if (inner && !/^\d+$/.test(inner[1])) {
    return inner[1];
  }
  return name.replace(/^(?:extern_kernels|aten|torch\.ops\.aten)\./, '');
}

export const keyOf = (location: Location): string => `${location.file}\n${location.line}`;

/** The lines a kernel's operations came from, each once, in the order of its operations. */
export function linesOf(kernel: Kernel): Location[] {
  const seen = new Map<string, Location>();
  for (const { location } of kernel.ops) {
    if (location && !seen.has(keyOf(location))) {
      seen.set(keyOf(location), location);
    }
  }
  return [...seen.values()];
}

/** Operations that share a loop nest, or all of a kernel that has none. */
export interface INest {
  /** From 0; null for operations that no group names, and where a kernel has no groups at all. */
  group: number | null;
  ops: readonly Operation[];
}

export function nestsOf(kernel: Kernel): INest[] {
  const named = new Set(kernel.groups.flatMap(group => group.ops));
  const nests: INest[] = kernel.groups.map((group, index) => ({
    group: index,
    ops: group.ops.flatMap(at => kernel.ops[at] ?? [])
  }));
  const rest = kernel.ops.filter((_, index) => !named.has(index));
  return rest.length > 0 ? [...nests, { group: null, ops: rest }] : nests;
}

export interface ILineOps {
  location: Location | null;
  ops: readonly Operation[];
}

/** Operations in their order, those that follow each other from one line together. */
export function byLine(ops: readonly Operation[]): ILineOps[] {
  const found: { location: Location | null; ops: Operation[] }[] = [];
  for (const op of ops) {
    const last = found[found.length - 1];
    const same =
      last &&
      (last.location && op.location
        ? keyOf(last.location) === keyOf(op.location)
        : last.location === op.location);
    if (same) {
      last.ops.push(op);
    } else {
      found.push({ location: op.location, ops: [op] });
    }
  }
  return found;
}

/** "relu" of "aten.relu.default", "add.Tensor" kept short as "add": the overload is of little use to a reader. */
export function shortOp(name: string): string {
  const parts = name.split('.');
  return parts.length >= 3 && /^(aten|prims|inductor)$/.test(parts[0]) ? parts[1] : name;
}

export interface INeighbour {
  /** The other kernel; null where the record does not have it. */
  row: IKernelRow | null;
  id: string;
  relation: 'before' | 'after' | 'within';
  /** Which loop nest of this kernel and of the other one, from 0; null where it is not said. */
  own: number | null;
  other: number | null;
  edge: NotFused;
}

/** Neighbours of one kernel told together: several of its loop nests met the same one in the same way. */
export interface INeighbours extends INeighbour {
  /** All of its own loop nests that did. */
  owns: readonly number[];
}

/** Each neighbour with each reason once. */
export function together(neighbours: readonly INeighbour[]): INeighbours[] {
  const found = new Map<string, INeighbours & { owns: number[] }>();
  neighbours.forEach((neighbour, index) => {
    const { id, relation, own, other, edge } = neighbour;
    const key =
      relation === 'within'
        ? `${index}`
        : JSON.stringify([id, relation, other, edge.reason, edge.detail, edge.buffers]);
    const same = found.get(key);
    if (same && own !== null) {
      same.owns.push(own);
    } else if (!same) {
      found.set(key, { ...neighbour, owns: own === null ? [] : [own] });
    }
  });
  return [...found.values()];
}

export function neighboursOf(row: IKernelRow, kernels: IKernels): INeighbour[] {
  const { id } = row.kernel;
  return row.graph.not_fused
    .filter(edge => edge.first === id || edge.second === id)
    .map(edge => {
      const first = edge.first === id;
      const other = first ? edge.second : edge.first;
      const [a, b] = [edge.first_group ?? null, edge.second_group ?? null];
      return {
        id: other,
        row: kernels.byId.get(other) ?? null,
        relation: edge.first === edge.second ? 'within' : first ? 'after' : 'before',
        own: first ? a : b,
        other: first ? b : a,
        edge
      };
    });
}

const texts = new WeakMap<Kernel, string>();

/** What a filter looks into: a kernel's names, its operations and its lines. */
function textOf({ label, kernel, graph }: IKernelRow): string {
  const known = texts.get(kernel);
  if (known !== undefined) {
    return known;
  }
  const text = [
    label,
    kernel.name,
    kernel.kind,
    graph.phase,
    graph.name ?? '',
    ...new Set(kernel.ops.map(op => op.name)),
    ...linesOf(kernel).map(location => `${location.file}:${location.line} ${location.text ?? ''}`)
  ]
    .join('\n')
    .toLowerCase();
  texts.set(kernel, text);
  return text;
}

/** Whether a kernel has all the words of a filter somewhere; they are in lower case. */
export function matches(row: IKernelRow, words: readonly string[]): boolean {
  return words.length === 0 || words.every(word => textOf(row).includes(word));
}

export const wordsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean);

/** Whether an operation of the kernel came from that line. */
export function isOfLine({ kernel }: IKernelRow, { file, line }: ILine): boolean {
  return kernel.ops.some(({ location }) => location?.file === file && location.line === line);
}
