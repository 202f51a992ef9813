/** The user's own lines, and what became of each. */
import { describe, expect, test } from 'vitest';

import { kernelsOf } from '../../../../labextension/src/panel/fusion/kernels';
import {
  ILensFile,
  ILensLine,
  isMarked,
  lensOf,
  stretches
} from '../../../../labextension/src/panel/fusion/lensdata';
import { Report } from '../../../../labextension/src/records';
import { healthy, place, troubled } from '../../reports';

const lens = (report: Report): ILensFile[] => lensOf(report, kernelsOf(report).rows, report.compile.graphs);
const labels = ({ kernels }: ILensLine): string => kernels.map(({ row }) => row.label).join(' ');
const line = (files: readonly ILensFile[], file: string, number: number): ILensLine =>
  files.find(one => one.file === file)!.lines.find(one => one.number === number)!;

describe('the lines', () => {
  test('given a report, then only files that something came of, with all their lines', () => {
    const files = lens(healthy());
    expect(files.map(({ file }) => file)).toEqual(['In[2]']);
    expect(files[0].lines).toHaveLength(25);
    expect(files[0].lines[11].text).toBe('        h = F.relu(self.norm1(self.conv1(x)))');
  });

  test('given a line, then all kernels that have an operation of it, and how many', () => {
    const files = lens(healthy());
    expect(labels(line(files, 'In[2]', 12))).toBe('F1 F2 F3 B5 B6');
    const pooled = line(files, 'In[2]', 13).kernels.find(({ row }) => row.label === 'F3');
    const ops = healthy().compile.graphs[0].kernels[2].ops.filter(op => op.location?.line === 13);
    expect(pooled?.ops).toBe(ops.length);
    expect(line(files, 'In[2]', 20).kernels).toEqual([]);
  });

  test('given the kernels of one graph, then only these', () => {
    const report = healthy();
    const rows = kernelsOf(report).rows.filter(({ graph }) => graph.phase === 'backward');
    const files = lensOf(report, rows, [report.compile.graphs[1]]);
    expect(labels(line(files, 'In[2]', 12))).toBe('B5 B6');
    expect(line(files, 'In[2]', 16).folded).toEqual([]);
  });

  test('given a line that was folded away, then in which graphs', () => {
    expect(line(lens(healthy()), 'In[2]', 16).folded.map(({ phase }) => phase)).toEqual(['forward']);
  });

  test("given breaks, then they are at their lines, without torch's own", () => {
    const files = lens(troubled());
    expect(line(files, 'In[1]', 19).breaks.map(({ id }) => id)).toEqual(['b-item']);
    expect(line(files, 'In[1]', 5).breaks.map(({ id }) => id)).toEqual(['b-if']);
    expect(files.map(({ file }) => file)).toEqual(['In[1]']);
  });

  test('given a source that begins further down, then its lines keep their numbers', () => {
    const report = healthy();
    report.sources = [
      { ...report.sources[1], first_line: 11, text: report.sources[1].text.split('\n').slice(10).join('\n') }
    ];
    const [file] = lens(report);
    expect(file.lines[0].number).toBe(11);
    expect(labels(line([file], 'In[2]', 13))).toBe('F3 B5');
  });

  test('given a file whose text was not recorded, then the lines that are quoted, in their order', () => {
    const report = healthy();
    report.sources = [];
    const [file] = lens(report);
    expect(file.source).toBeNull();
    expect(file.lines.map(({ number }) => number)).toEqual([12, 13, 14, 15, 16, 25]);
    expect(file.lines[0].text).toContain('self.conv1(x)');
    expect(file.lines.every(isMarked)).toBe(true);
  });

  test('given a file with its text and one without, then both, the recorded one first', () => {
    const report = healthy();
    report.compile.graphs[0].folded.push(place({ file: 'nets.py', line: 3, text: 'x = x + 0' }));
    expect(lens(report).map(({ file, source, lines }) => [file, source !== null, lines.length])).toEqual([
      ['In[2]', true, 25],
      ['nets.py', false, 1]
    ]);
  });

  test('given a line beyond the end of its source, then nothing breaks', () => {
    const report = healthy();
    report.compile.graphs[0].folded = [place({ line: 5000 })];
    expect(lens(report)[0].lines).toHaveLength(25);
  });

  test('given operations without a place, then they are at no line', () => {
    const report = healthy();
    report.compile.graphs.forEach(graph => {
      graph.folded = [];
      graph.kernels.forEach(kernel => kernel.ops.forEach(op => (op.location = null)));
    });
    expect(lens(report)).toEqual([]);
  });
});

describe('stretches', () => {
  const lines = (marked: readonly number[], count: number): ILensLine[] =>
    Array.from({ length: count }, (_, at) => ({
      number: at + 1,
      text: '',
      kernels: [],
      folded: marked.includes(at + 1) ? healthy().compile.graphs : [],
      breaks: []
    }));
  const shape = (marked: readonly number[], count: number): string =>
    stretches(lines(marked, count))
      .map(({ shown, lines: of }) => `${shown ? '' : '-'}${of[0].number}..${of[of.length - 1].number}`)
      .join(' ');

  test.each([
    [[20], 40, '-1..15 16..24 -25..40'],
    [[1], 5, '1..5'],
    [[10], 14, '1..5 6..14'],
    [[11], 15, '-1..6 7..15'],
    [[5, 15], 20, '1..9 10..10 11..19 20..20'],
    [[], 3, '1..3'],
    [[], 10, '-1..10']
  ])(
    'given marks at %j of %d lines, then %s: four lines around them, and short gaps stay',
    (marked, count, expected) => {
      expect(shape(marked, count)).toBe(expected);
    }
  );

  test('given any marks, then every line is in one stretch, and the marked ones are shown', () => {
    const all = lines([3, 30, 31, 90], 100);
    const parts = stretches(all);
    expect(parts.flatMap(({ lines: of }) => of)).toEqual(all);
    expect(
      parts
        .filter(({ shown }) => !shown)
        .flatMap(({ lines: of }) => of)
        .some(isMarked)
    ).toBe(false);
  });
});
