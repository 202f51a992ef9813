/** The report's kernels as rows: each with its graph, its colour and its label, made once for a report. */
import { kernelColour, phaseLetter } from '../../components/palette';
import { Graph, Kernel, Location, NotFused, Report } from '../../records';

export interface IKernelRow {
  kernel: Kernel;
  graph: Graph;
  /** "F3": the third kernel of the forward graphs. */
  label: string;
  colour: string;
  /** Bytes in and out; null where one of them is not known. */
  bytes: number | null;
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
    graph.kernels.forEach((kernel, nth) => {
      const number = (counts.get(letter) ?? 0) + 1;
      counts.set(letter, number);
      rows.push({
        kernel,
        graph,
        label: `${letter}${number}`,
        colour: kernelColour(nth),
        bytes: moved(kernel),
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

/** Bytes of all these kernels together; null where none is known. Unknown ones are left out, and the shares say so. */
export function totalBytes(rows: readonly IKernelRow[]): number | null {
  const known = rows.filter(row => row.bytes !== null);
  return known.length === 0 ? null : known.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
}

export function shareOf(row: IKernelRow, total: number | null): number | null {
  return row.bytes === null || !total ? null : row.bytes / total;
}

/** How many loop nests a kernel has; library calls and fallbacks have none. */
export function groupCount(kernel: Kernel): number | null {
  return kernel.groups.length > 0 ? kernel.groups.length : null;
}

/**
 * "native_batch_norm, relu" out of "cpp_fused_native_batch_norm_relu_0": what tells kernels apart, without what all of them share.
 */
export function shortName(name: string): string {
  const inner = /^(?:cpp|triton)_(?:[a-z]{3}_)?fused_+(.+?)(?:_\d+)?$/.exec(name);
  if (inner) {
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

export interface INeighbour {
  /** The other kernel; null where the record does not have it. */
  row: IKernelRow | null;
  id: string;
  /** Whether the other one runs first. */
  before: boolean;
  edge: NotFused;
}

export function neighboursOf(row: IKernelRow, kernels: IKernels): INeighbour[] {
  const { id } = row.kernel;
  return row.graph.not_fused
    .filter(edge => edge.first === id || edge.second === id)
    .map(edge => {
      const before = edge.second === id;
      const other = before ? edge.first : edge.second;
      return { id: other, row: kernels.byId.get(other) ?? null, before, edge };
    });
}

/** Whether a kernel has all the words of a filter somewhere: in its names, its operations or its lines. */
export function matches(row: IKernelRow, words: readonly string[]): boolean {
  if (words.length === 0) {
    return true;
  }
  const { kernel, graph } = row;
  const text = [
    row.label,
    kernel.name,
    kernel.kind,
    graph.phase,
    graph.name ?? '',
    ...kernel.ops.map(op => op.name),
    ...linesOf(kernel).map(location => `${location.file}:${location.line} ${location.text ?? ''}`)
  ]
    .join('\n')
    .toLowerCase();
  return words.every(word => text.includes(word));
}
