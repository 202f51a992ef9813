/** The report's kernels as rows, and what is found out about them. */
import { describe, expect, test } from 'vitest';

import { cacheWords, savedShare } from '../../../../labextension/src/panel/fusion/graphs';
import {
  byLine,
  groupCount,
  isOfLine,
  kernelsOf,
  linesOf,
  matches,
  neighboursOf,
  nestsOf,
  shortName,
  shortOp,
  wordsOf
} from '../../../../labextension/src/panel/fusion/kernels';
import { Graph, Kernel, Location, Operation } from '../../../../labextension/src/records';
import { healthy, place, troubled } from '../../reports';
import { trans } from '../../view';

const REPORT = healthy();
const KERNELS = kernelsOf(REPORT);
const row = (id: string) => KERNELS.byId.get(id)!;
const POOLED = row('0/0:forward#2');

const kernelOf = (changes: Partial<Kernel>): Kernel => ({ ...POOLED.kernel, ...changes });
const op = (name: string, location: Location | null = null): Operation => ({ name, location, node: null });

describe('rows', () => {
  test('given three graphs, then labels count within forward, backward and optimizer', () => {
    expect(KERNELS.rows.map(({ label }) => label)).toEqual([
      ...['F1', 'F2', 'F3', 'F4', 'F5', 'F6', 'F7'],
      ...['B1', 'B2', 'B3', 'B4', 'B5', 'B6', 'O1']
    ]);
    expect(KERNELS.rows.map(({ order }) => order)).toEqual(KERNELS.rows.map((_, at) => at));
  });

  test('given several graphs of one phase, then no label is given twice', () => {
    const labels = kernelsOf(troubled()).rows.map(({ label }) => label);
    expect(new Set(labels).size).toBe(16);
    expect(labels[15]).toBe('F16');
  });

  test('given the bytes of a graph’s kernels, then their shares make up the whole', () => {
    const shares = KERNELS.rows
      .filter(({ graph }) => graph.phase === 'forward')
      .map(({ share }) => share ?? NaN);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
    expect(row('1/0:optimizer#0').share).toBe(1);
  });

  test('given a kernel of which one figure is not known, then it has neither bytes nor a share', () => {
    const [, unknown] = kernelsOf(troubled()).rows;
    expect([unknown.bytes, unknown.share]).toEqual([null, null]);
  });

  test('given kernels that move nothing, then no share is made of nothing', () => {
    const report = healthy();
    report.compile.graphs[0].kernels.forEach(kernel => {
      kernel.bytes_read = 0;
      kernel.bytes_written = 0;
    });
    expect(kernelsOf(report).rows[0]).toMatchObject({ bytes: 0, share: null });
  });

  test('given no graphs, then no rows', () => {
    expect(kernelsOf({ ...REPORT, compile: { ...REPORT.compile, graphs: [] } }).rows).toEqual([]);
  });
});

describe('names', () => {
  test.each([
    [
      'cpp_fused__native_batch_norm_legit_functional_max_pool2d_with_indices_relu_1',
      'native_batch_norm_legit_functional_max_pool2d_with_indices_relu'
    ],
    ['cpp_fused_relu_threshold_backward_0', 'relu_threshold_backward'],
    ['cpp_fused_relu', 'relu'],
    ['triton_poi_fused_add_mul_3', 'add_mul'],
    ['triton_per_fused_native_layer_norm_0', 'native_layer_norm'],
    ['cpp_fused_0', 'cpp_fused_0'],
    ['extern_kernels.addmm', 'addmm'],
    ['aten.convolution_backward', 'convolution_backward'],
    ['torch.ops.aten._scaled_dot_product', '_scaled_dot_product'],
    ['my_own_kernel', 'my_own_kernel'],
    ['', '']
  ])('given the kernel %s, then %s', (name, short) => {
    expect(shortName(name)).toBe(short);
  });

  test.each([
    ['aten.relu.default', 'relu'],
    ['prims.convert_element_type.default', 'convert_element_type'],
    ['add.Tensor', 'add.Tensor'],
    ['mylib.norm.default', 'mylib.norm.default'],
    ['relu', 'relu']
  ])('given the operation %s, then %s', (name, short) => {
    expect(shortOp(name)).toBe(short);
  });
});

describe('lines', () => {
  test('given operations of two lines, then each line once, in the order of the operations', () => {
    expect(linesOf(POOLED.kernel).map(({ line }) => line)).toEqual([12, 13]);
  });

  test('given lines of one number in two files, then both', () => {
    const kernel = kernelOf({
      ops: [op('a', place()), op('b', place({ file: 'In[1]' })), op('c', place()), op('d')]
    });
    expect(linesOf(kernel).map(({ file }) => file)).toEqual(['In[2]', 'In[1]']);
  });

  test('given operations in their order, then those that follow each other from one line are together', () => {
    const [first, second] = [place({ line: 1 }), place({ line: 2 })];
    const ops = [op('a', first), op('b', first), op('c'), op('d'), op('e', second), op('f', first)];
    expect(
      byLine(ops).map(({ location, ops: of }) => [location?.line ?? null, of.map(one => one.name).join('')])
    ).toEqual([
      [1, 'ab'],
      [null, 'cd'],
      [2, 'e'],
      [1, 'f']
    ]);
  });

  test('given a line, then a kernel is of it only where file and number are the same', () => {
    expect(isOfLine(POOLED, { file: 'In[2]', line: 13 })).toBe(true);
    expect(isOfLine(POOLED, { file: 'In[2]', line: 14 })).toBe(false);
    expect(isOfLine(POOLED, { file: 'In[1]', line: 13 })).toBe(false);
  });
});

describe('loop nests', () => {
  test('given two groups, then two nests with all operations between them', () => {
    const nests = nestsOf(POOLED.kernel);
    expect(nests.map(({ group }) => group)).toEqual([0, 1]);
    expect(nests.flatMap(({ ops }) => ops)).toHaveLength(POOLED.kernel.ops.length);
    expect(groupCount(POOLED.kernel)).toBe(2);
  });

  test('given no groups, then one nest without a number, and the number of groups is not known', () => {
    const { kernel } = row('0/0:forward#0');
    expect(nestsOf(kernel)).toEqual([{ group: null, ops: kernel.ops }]);
    expect(groupCount(kernel)).toBeNull();
  });

  test('given operations that no group names, then they come last, by themselves', () => {
    const kernel = kernelOf({ ops: [op('a'), op('b'), op('c')], groups: [{ ops: [1], nodes: [] }] });
    expect(nestsOf(kernel).map(({ group, ops }) => [group, ops.map(({ name }) => name).join('')])).toEqual([
      [0, 'b'],
      [null, 'ac']
    ]);
  });

  test('given a group that names an operation that is not there, then it is left out', () => {
    const kernel = kernelOf({ ops: [op('a')], groups: [{ ops: [0, 7, -1], nodes: [] }] });
    expect(nestsOf(kernel)).toEqual([{ group: 0, ops: [op('a')] }]);
  });

  test('given no operations at all, then no nest without a group', () => {
    expect(nestsOf(kernelOf({ ops: [], groups: [] }))).toEqual([]);
  });
});

describe('neighbours', () => {
  test('given edges on both sides, then who, on which side and why', () => {
    expect(
      neighboursOf(POOLED, KERNELS).map(({ id, relation, edge, row: other }) => [
        id,
        relation,
        edge.reason,
        other?.label
      ])
    ).toEqual([
      [
        '0/0:forward#1',
        'before',
        'The second needs the finished mean and variance of the whole batch before its first element.',
        'F2'
      ],
      [
        '0/0:forward#3',
        'after',
        'The convolution is a library call; only generated kernels can be fused.',
        'F4'
      ]
    ]);
  });

  test('given an edge inside one kernel, then it is between two of its own groups', () => {
    const report = healthy();
    report.compile.graphs[0].not_fused = [
      {
        ...report.compile.graphs[0].not_fused[0],
        first: POOLED.kernel.id,
        second: POOLED.kernel.id,
        first_group: 0,
        second_group: 1
      }
    ];
    const kernels = kernelsOf(report);
    expect(neighboursOf(kernels.byId.get(POOLED.kernel.id)!, kernels)).toMatchObject([
      { relation: 'within', own: 0, other: 1 }
    ]);
  });

  test('given groups on an edge, then each side has its own', () => {
    const report = healthy();
    report.compile.graphs[0].not_fused = [
      {
        ...report.compile.graphs[0].not_fused[0],
        first: '0/0:forward#1',
        second: POOLED.kernel.id,
        first_group: 3,
        second_group: 1
      }
    ];
    const kernels = kernelsOf(report);
    expect(neighboursOf(kernels.byId.get(POOLED.kernel.id)!, kernels)).toMatchObject([
      { relation: 'before', own: 1, other: 3 }
    ]);
  });

  test('given an edge to a kernel that the record does not have, then its id is all there is', () => {
    const report = healthy();
    report.compile.graphs[0].not_fused = [
      { ...report.compile.graphs[0].not_fused[0], first: POOLED.kernel.id, second: 'gone#1' }
    ];
    const kernels = kernelsOf(report);
    expect(neighboursOf(kernels.byId.get(POOLED.kernel.id)!, kernels)).toMatchObject([
      { id: 'gone#1', row: null }
    ]);
  });
});

describe('the filter', () => {
  const found = (query: string): string[] =>
    KERNELS.rows.filter(one => matches(one, wordsOf(query))).map(({ label }) => label);

  test.each([
    ['', 14],
    ['   ', 14],
    ['nothing-like-this', 0]
  ])('given "%s", then %d kernels', (query, count) => {
    expect(found(query)).toHaveLength(count);
  });

  test.each([
    ['F3', ['F3']],
    ['addmm', ['F7']],
    ['ADDMM', ['F7']],
    ['fallback', ['B4', 'B6']],
    ['optimizer', ['O1']],
    ['in[2]:16 forward', ['F7', 'B1', 'B2', 'B3']],
    ['max_pool2d(h', ['F3', 'F6', 'B3', 'B5']],
    ['pool fallback', []]
  ])(
    'given "%s", then %j: names, kinds, operations, phases and lines count, and all words',
    (query, labels) => {
      expect(found(query)).toEqual(labels);
    }
  );
});

describe('what a graph saves', () => {
  const graph = (bytes: Graph['bytes']): Graph => ({ ...REPORT.compile.graphs[0], bytes });
  const notes: string[] = [];

  test.each([
    [{ eager: 100, decomposed: null, fused: 25, notes }, 0.75],
    [{ eager: 100, decomposed: null, fused: 125, notes }, -0.25],
    [{ eager: 100, decomposed: null, fused: 0, notes }, 1],
    [{ eager: 0, decomposed: null, fused: 0, notes }, null],
    [{ eager: null, decomposed: 10, fused: 5, notes }, null],
    [{ eager: 100, decomposed: 10, fused: null, notes }, null],
    [null, null]
  ])('given %j, then %s of eager', (bytes, share) => {
    expect(savedShare(graph(bytes))).toBe(share);
  });

  test.each(['hit', 'miss', 'bypass', 'off', 'unknown', 'shared'])(
    'given the cache outcome %s, then in words',
    outcome => {
      const words = cacheWords(
        {
          ...REPORT.compile.graphs[0],
          cache: { outcome: outcome as 'hit', cache: null, key: null, reason: null }
        },
        trans
      );
      expect(words).toBe({ bypass: 'bypassed', unknown: 'not known' }[outcome] ?? outcome);
    }
  );

  test('given no word of the cache, then it is not known', () => {
    expect(cacheWords({ ...REPORT.compile.graphs[0], cache: null }, trans)).toBe('not known');
  });
});
