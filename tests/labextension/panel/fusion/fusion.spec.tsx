/** The view of graphs, kernels and the user's own lines, side by side. */
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';

import { THIN } from '../../../../labextension/src/format';
import { another, healthy, leftEager, running, troubled } from '../../reports';
import { NARROW } from '../../wholepanel';
import {
  open,
  changed,
  table,
  rowsOf,
  labels,
  kernelRow,
  lit,
  line,
  lineButton,
  blocks,
  litLines,
  field,
  kernel,
  F3
} from './parts';

describe('the code', () => {
  test('given a line, then it shows its kernels as blocks and says them', async () => {
    await open();
    expect(blocks(12)).toBe('F1 F2 F3');
    expect(line(12).querySelector('.stc-Lens-more')?.textContent).toBe('+2');
    expect(lineButton(12).getAttribute('aria-label')).toBe('Line 12: kernels F1, F2, F3, B5, B6');
    expect(blocks(13)).toBe('F3 B5');
  });

  test('given a line that became nothing in a graph, then that is said', async () => {
    await open();
    expect(line(16).textContent).toContain('folded in forward');
    expect(lineButton(16).getAttribute('aria-label')).toContain('folded away');
  });

  test('given a line that broke the graph, then a bar with the reason, which leads to the break', async () => {
    const { user, model } = await open(troubled());
    await user.click(screen.getByRole('button', { name: /Breaks the graph: Tensor.item/ }));
    expect([model.tab, model.selection.event]).toEqual(['breaks', 'b-item']);
  });

  test('given lines that came to nothing, then they stand behind a button', async () => {
    const { user } = await open();
    expect(line(3)).toBeUndefined();
    await user.click(screen.getByRole('button', { name: '⋯ lines 1 to 7 became no operations' }));
    expect(line(3).textContent).toContain('def __init__(self):');
    expect(line(3).querySelector('button')).toBeNull();
  });

  test('given a cell, when it is folded, then its lines are not there', async () => {
    const { user } = await open();
    await user.click(screen.getByRole('button', { name: 'In[2]', expanded: true }));
    expect(line(12)).toBeUndefined();
  });

  test('given a side panel, then the code is above the lists, and can be folded', async () => {
    const { user } = await open(healthy(), { width: NARROW });
    expect(blocks(13)).toBe('F3 B5');
    await user.click(screen.getByRole('button', { name: 'Your code', expanded: true }));
    expect(line(13)).toBeUndefined();
    await user.click(screen.getByRole('button', { name: 'Your code', expanded: false }));
    expect(blocks(13)).toBe('F3 B5');
  });

  test('given no lines at all, then that is said', async () => {
    const { container } = await open(
      changed(report => {
        report.compile.graphs.forEach(graph => {
          graph.folded = [];
          graph.kernels.forEach(one => one.ops.forEach(op => (op.location = null)));
        });
      })
    );
    expect(container.textContent).toContain('No line of yours is known for these kernels.');
    expect(labels()).toContain('F1');
  });

  test('given a source that was not recorded, then the lines that are known, and that it was not', async () => {
    const { container } = await open(
      changed(report => {
        report.sources = [];
      })
    );
    expect(container.textContent).toContain('Its text was not recorded');
    expect(blocks(13)).toBe('F3 B5');
  });

  test('given arrows, then up and down go through the lines, left and right through the blocks of one', async () => {
    const { user } = await open();
    act(() => lineButton(12).focus());
    const at = (): string | null => (document.activeElement as HTMLElement).getAttribute('aria-label');
    await user.keyboard('{ArrowDown}');
    expect(at()).toMatch(/^Line 13/);
    await user.keyboard('{ArrowRight}');
    expect(at()).toMatch(/^Kernel F3/);
    await user.keyboard('{ArrowRight}{ArrowRight}');
    expect(at()).toMatch(/^Kernel B5/);
    await user.keyboard('{ArrowUp}');
    expect(at()).toMatch(/^Line 12/);
    await user.keyboard('{End}');
    expect(at()).toMatch(/^Line 25/);
    await user.keyboard('{Home}');
    expect(at()).toMatch(/^Line 12/);
  });
});

describe('both sides together', () => {
  test('given a line that is pointed at, then its kernels light up; left, and none does', async () => {
    const { user } = await open();
    await user.hover(line(13));
    expect(lit()).toBe('F3 B5');
    await user.unhover(line(13));
    expect(lit()).toBe('');
  });

  test('given a kernel that is pointed at, then its lines light up, also where its block had no room', async () => {
    const { user } = await open();
    await user.hover(kernelRow('B6'));
    expect(litLines()).toEqual(['12']);
    expect(blocks(12)).toContain('B6');
    await user.unhover(kernelRow('B6'));
    expect(litLines()).toEqual([]);
  });

  test('given the keyboard, when a row or a line has the focus, then the other side lights up as well', async () => {
    await open();
    act(() => kernelRow('F3').focus());
    expect(litLines()).toEqual(['12', '13']);
    act(() => lineButton(25).focus());
    expect(lit()).toBe('O1');
  });

  test('given a line that is picked, then only its kernels are listed, until the chip or the line takes it back', async () => {
    const { user, model } = await open();
    await user.click(lineButton(13));
    expect(labels()).toBe('F3 B5');
    expect(model.selection.line).toEqual({ file: 'In[2]', line: 13 });
    expect(lineButton(13).getAttribute('aria-pressed')).toBe('true');
    const chip = screen.getByRole('button', { name: 'Show the kernels of all lines' });
    expect(chip.textContent).toContain('In[2] : 13');
    await user.click(chip);
    expect(rowsOf('Kernels')).toHaveLength(14);
    await user.click(lineButton(13));
    await user.click(lineButton(13));
    expect(rowsOf('Kernels')).toHaveLength(14);
  });

  test('given a line that is picked, when Escape is pressed in the code, then it is taken back', async () => {
    const { user, model } = await open();
    await user.click(lineButton(13));
    await user.keyboard('{Escape}');
    expect(model.selection.line).toBeNull();
  });

  test('given a block, when it is pressed, then its kernel opens', async () => {
    const { user } = await open();
    await user.click(within(line(13)).getByRole('button', { name: /^Kernel F3/ }));
    expect(kernel().getAttribute('aria-label')).toBe('Kernel F3');
  });

  test('given a kernel that is open, when a line is picked, then the list of that line’s kernels comes back', async () => {
    const { user, model } = await open();
    await user.click(kernelRow('F1'));
    await user.click(lineButton(13));
    expect(model.selection.kernel).toBeNull();
    expect(labels()).toBe('F3 B5');
  });
});

describe('the graphs', () => {
  test('given graphs, then phase, function, what became of it and what that saves', async () => {
    const { container } = await open();
    const cells = [...rowsOf('Graphs')[0].children].slice(1).map(cell => cell.textContent);
    expect(cells).toEqual([
      'FforwardDigitsNet.forward',
      '10 → 7',
      `7${THIN}%`,
      `3.17${THIN}MB`,
      `3.40${THIN}MB`,
      'miss',
      `9.84${THIN}s`
    ]);
    expect(container.textContent).toContain(
      `Once through all graphs moves 9.35${THIN}MB, eager 11.7${THIN}MB: 20${THIN}% less. Modelled, not measured.`
    );
  });

  test('given a graph that is chosen, then only its kernels and lines; again, and all', async () => {
    const { user } = await open();
    await user.click(rowsOf('Graphs')[1]);
    expect(labels()).toBe('B1 B2 B3 B4 B5 B6');
    expect(blocks(12)).toBe('B5 B6');
    await user.click(screen.getByRole('button', { name: 'Show all graphs' }));
    expect(rowsOf('Kernels')).toHaveLength(14);
  });

  test('given their names, when sorted by them, then by phase and function; unnamed ones are sorted as well', async () => {
    const { user } = await open(
      changed(report => {
        report.compile.graphs[0].name = null;
      })
    );
    await user.click(within(table('Graphs')).getByRole('button', { name: 'Graph' }));
    expect(rowsOf('Graphs').map(row => row.dataset['id'])).toEqual([
      '0/0:backward',
      '0/0:forward',
      '1/0:optimizer'
    ]);
  });

  test('given bytes that are not known, then n/a and why, and no sum', async () => {
    const { container, user } = await open(troubled());
    expect(rowsOf('Graphs')[0].textContent).toContain('n/a');
    expect(container.textContent).toContain('Bytes against eager are not known for any graph');
    await user.click(within(rowsOf('Graphs')[0]).getByRole('button', { name: /^Unfold/ }));
    expect(container.querySelector('.stc-Table-details')?.textContent).toContain(
      'the graph reads a value on the host'
    );
  });

  test('given bytes that are known of some graphs, then the sum says of how many', async () => {
    const { container } = await open(
      changed(report => {
        report.compile.graphs[1].bytes = null;
      })
    );
    expect(container.textContent).toContain('Once through the 2 graphs with known bytes moves');
  });

  test('given a graph that moves more than eager, then it says more, with a minus', async () => {
    const { container } = await open(
      changed(report => {
        report.compile.graphs.forEach(
          graph => (graph.bytes = { eager: 100, decomposed: 300, fused: 150, notes: [] })
        );
      })
    );
    expect(rowsOf('Graphs')[0].textContent).toContain(`−50${THIN}%`);
    expect(container.textContent).toContain(`50${THIN}% more`);
  });

  test('given a graph that is unfolded, then cache, sizes, step and its name in torch', async () => {
    const { user, container } = await open();
    await user.click(
      within(rowsOf('Graphs')[0]).getByRole('button', { name: 'Unfold forward graph of DigitsNet.forward' })
    );
    const facts = container.querySelector('.stc-Table-details')?.textContent ?? '';
    for (const words of [
      'miss: not in the cache',
      'Sizesfixed',
      'in step 7',
      'Name in torch',
      `9.22${THIN}MB`
    ]) {
      expect(facts).toContain(words);
    }
  });
});

describe('the kernels', () => {
  test('given kernels at full width, then all columns', async () => {
    await open();
    expect([...kernelRow('F3').children].map(cell => cell.textContent)).toEqual([
      'F3native_batch_norm_legit_functional_max_pool2d_with_indices_relu',
      'C++',
      '7',
      `33${THIN}%`,
      `525${THIN}kB`,
      `688${THIN}kB`,
      '2'
    ]);
  });

  test('given a side panel, then three columns, and the rest in the row that unfolds', async () => {
    const { user } = await open(healthy(), { width: NARROW });
    expect([...kernelRow('F3').children].slice(1).map(cell => cell.textContent)).toEqual([
      'F3native_batch_norm_legit_functional_max_pool2d_with_indices_relu',
      '7',
      `33${THIN}%`
    ]);
    await user.click(within(kernelRow('F3')).getByRole('button', { name: 'Unfold kernel F3' }));
    const facts = table('Kernels').querySelector('.stc-Table-details')?.textContent;
    expect(facts).toBe(
      `KindC++In525${THIN}kBOut688${THIN}kBGroups2Graphforward DigitsNet.forwardLinesIn[2] : 12In[2] : 13`
    );
  });

  test('given the filter, when "/" is pressed, then it has the focus; words narrow the list; Escape clears and leaves', async () => {
    const { user } = await open();
    act(() => kernelRow('F1').focus());
    await user.keyboard('/');
    expect(document.activeElement).toBe(field());
    await user.keyboard('fallback');
    await waitFor(() => expect(labels()).toBe('B4 B6'));
    expect(screen.getByText('2 of 14')).toBeTruthy();
    await user.keyboard('{Escape}');
    await waitFor(() => expect(rowsOf('Kernels')).toHaveLength(14));
    expect(document.activeElement).toBe(field());
    await user.keyboard('{Escape}');
    expect(document.activeElement).not.toBe(field());
  });

  test('given "/" typed in the filter, then it is part of what is looked for', async () => {
    const { user } = await open();
    await user.type(field(), 'a/b');
    expect((field() as HTMLInputElement).value).toBe('a/b');
    expect(await screen.findByText('No kernel matches')).toBeTruthy();
  });

  test('given a graph without kernels, then why its list is empty', async () => {
    const { container } = await open(
      changed(report => report.compile.graphs.forEach(graph => (graph.kernels = [])))
    );
    expect(container.textContent).toContain('No kernel was recorded for this graph.');
  });

  test('given a live run, when a graph is added, then filter, order and unfolded rows stay', async () => {
    const { user, server } = await open(running(), { width: NARROW });
    await user.click(screen.getByRole('button', { name: 'Ops' }));
    await user.type(field(), 'in[2]');
    await waitFor(() => expect(labels()).toMatch(/^F3 F6/));
    await user.click(within(kernelRow('F3')).getByRole('button', { name: 'Unfold kernel F3' }));
    const { id } = running().run;
    server.reports.set(id, another(healthy(), id));
    act(() => server.changed(id));
    await waitFor(() => expect(labels()).toContain('O1'));
    expect(labels()).toMatch(/^O1 F3 F6/);
    expect(table('Kernels').querySelector('.stc-Table-details')).not.toBeNull();
  });
});

describe('no graphs', () => {
  test('given a run that was left eager, then why', async () => {
    const { container } = await open(leftEager());
    expect(container.textContent).toContain(leftEager().compile.decision?.reason);
    expect(screen.queryByRole('searchbox', { name: /Filter the kernels/ })).toBeNull();
  });

  test('given a live run, when its first graph comes, then it is shown without a reload', async () => {
    const early = running();
    early.compile.graphs = [];
    const { server, container } = await open(early);
    expect(container.textContent).toContain('Nothing is compiled yet');
    server.reports.set(early.run.id, running());
    act(() => server.changed(early.run.id));
    await waitFor(() => expect(labels()).toContain('F7'));
  });

  test('given a kernel that a newer report does not have any more, then the list is there', async () => {
    const { user, server, model } = await open(running());
    await user.click(kernelRow('F3'));
    const less = running();
    less.compile.graphs[0].kernels.splice(2, 1);
    server.reports.set(less.run.id, less);
    act(() => server.changed(less.run.id));
    await waitFor(() => expect(screen.queryByRole('article')).toBeNull());
    expect(model.selection.kernel).toBe(F3);
    fireEvent.keyDown(table('Kernels'), { key: 'Escape' });
    expect(labels()).toContain('F1');
  });
});
