/** From a recorded place to the open notebook or file, in JupyterLab's own notebooks and editors. */
import { MarkdownCell } from '@jupyterlab/cells';
import { IDocumentWidget } from '@jupyterlab/docregistry';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { CodeEditor } from '@jupyterlab/codeeditor';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { findLine, isInCell, isSamePath, Navigator, underRoot } from '../../labextension/src/navigate';
import { Location } from '../../labextension/src/records';
import { makeLab, notebookOf } from './jupyterlab';
import { healthy, place } from './reports';

const [FIRST, TRAINING] = healthy().sources;
const LINE = place();
const IN_FILE: Partial<Location> = { cell: null, cell_id: null, notebook: null };

const digits = (): string =>
  notebookOf([
    { id: 'title', source: '# Digits' },
    { id: 'cell-1', source: FIRST.text, count: 1 },
    { id: 'cell-2', source: TRAINING.text, count: 2 }
  ]);

let files: Map<string, string>;
let lab: ReturnType<typeof makeLab>;

beforeEach(() => {
  // What shared documents say of a model that is not in one yet.
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  files = new Map([
    ['digits.ipynb', digits()],
    ['work/deep/digits.ipynb', digits()],
    ['train.py', TRAINING.text]
  ]);
  lab = makeLab(files);
});

afterEach(() => {
  lab.dispose();
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

const navigator = (changes: Partial<ConstructorParameters<typeof Navigator>[0]> = {}): Navigator =>
  new Navigator({ ...lab, root: '/home/me', ...changes });

/** The line that is selected as a whole, from 1. */
function selected(editor: CodeEditor.IEditor | null | undefined): number | null {
  const selection = editor?.getSelection();
  if (!editor || !selection || selection.start.line !== selection.end.line) {
    return null;
  }
  const whole =
    selection.start.column === 0 && selection.end.column === editor.getLine(selection.end.line)?.length;
  return whole ? selection.start.line + 1 : null;
}
const inNotebook = (panel: NotebookPanel): [number, number | null, string] => [
  panel.content.activeCellIndex,
  selected(panel.content.activeCell?.editor),
  panel.content.mode
];
const expectNothingShown = (): void => expect(lab.shell.activateById).not.toHaveBeenCalled();

describe('a line found again', () => {
  const source = 'a = 1\n  b = 2\nc = 3\n  b = 2\n';

  test.each([
    [2, '  b = 2', 1],
    [4, '  b = 2', 3],
    [2, 'c = 3', 2],
    [1, '        b = 2', 1],
    [9, 'a = 1', 0],
    [1, 'gone', null],
    [3, null, 2],
    [50, null, null]
  ])(
    'given line %d that read %j, then index %s: where it was, else the nearest that reads the same',
    (line, text, at) => {
      expect(findLine(source, { line, text })).toBe(at);
    }
  );
});

describe('paths', () => {
  test.each([
    ['digits.ipynb', 'digits.ipynb', true],
    ['work/digits.ipynb', '/home/me/work/digits.ipynb', true],
    ['RTC:work/digits.ipynb', 'work/digits.ipynb', true],
    ['work/digits.ipynb', 'C:\\Users\\me\\work\\digits.ipynb', true],
    ['digits.ipynb', '/home/me/other-digits.ipynb', false],
    ['digits.ipynb', 'work/digits.ipynb', false],
    ['work/digits.ipynb', 'digits.ipynb', false],
    ['digits.ipynb', null, false]
  ])('given %s here and %s recorded, then the same file: %s', (contents, recorded, same) => {
    expect(isSamePath(contents, recorded)).toBe(same);
  });

  test.each([
    ['/home/me/work/a.ipynb', '/home/me', 'work/a.ipynb'],
    ['/home/me/work/a.ipynb', '/home/me/', 'work/a.ipynb'],
    ['/home/me/work/a.ipynb', '/', 'home/me/work/a.ipynb'],
    ['/home/me/work/a.ipynb', '~', 'work/a.ipynb'],
    ['/home/me/work/a.ipynb', '~/work', 'a.ipynb'],
    ['/root/work/a.ipynb', '~/work', 'a.ipynb'],
    ['/Users/me/a.ipynb', '~', 'a.ipynb'],
    ['C:\\Users\\me\\work\\a.ipynb', '~/work', 'a.ipynb'],
    ['/home/me/work/a.ipynb', '/home/you', null],
    ['/home/meme/a.ipynb', '/home/me', null],
    ['/home/me/other/a.ipynb', '~/work', null],
    ['work/a.ipynb', '/home/me', null],
    ['/home/me/a.ipynb', '', null]
  ])('given %s and the root %s, then %s', (path, root, inside) => {
    expect(underRoot(path, root)).toBe(inside);
  });

  test('given a location, then it is in a cell where it has an id or a count', () => {
    expect(isInCell(place())).toBe(true);
    expect(isInCell(place({ cell: null }))).toBe(true);
    expect(isInCell(place({ cell_id: null }))).toBe(true);
    expect(isInCell(place(IN_FILE))).toBe(false);
  });
});

describe('given the notebook is open', () => {
  test('when a place is opened, then its cell is active and the line selected, ready to type', async () => {
    const panel = await lab.notebook('digits.ipynb');
    expect(await navigator().open(LINE)).toBe('shown');
    expect(inNotebook(panel)).toEqual([2, 12, 'edit']);
    expect(lab.shell.activateById).toHaveBeenCalledExactlyOnceWith(panel.id);
  });

  test('when lines were added above, then the line is found where it is now', async () => {
    const panel = await lab.notebook('digits.ipynb');
    panel.content.widgets[2].model.sharedModel.setSource(
      TRAINING.text.replace('class', '# one\n# two\nclass')
    );
    expect(await navigator().open(LINE)).toBe('shown');
    expect(inNotebook(panel)).toEqual([2, 14, 'edit']);
  });

  test('when cells were added above, then the cell is found by its id', async () => {
    const panel = await lab.notebook('digits.ipynb');
    panel.content.activeCellIndex = 0;
    NotebookActions.insertAbove(panel.content);
    expect(await navigator().open(LINE)).toBe('shown');
    expect(inNotebook(panel)).toEqual([3, 12, 'edit']);
  });

  test('when the line is not there any more, then that, and nothing moves', async () => {
    const panel = await lab.notebook('digits.ipynb');
    panel.content.widgets[2].model.sharedModel.setSource('pass');
    const before = inNotebook(panel);
    expect(await navigator().open(LINE)).toBe('line-gone');
    expect(inNotebook(panel)).toEqual(before);
    expectNothingShown();
  });

  test('when the cell is not there any more, then that', async () => {
    const panel = await lab.notebook('digits.ipynb');
    panel.content.activeCellIndex = 2;
    NotebookActions.deleteCells(panel.content);
    expect(await navigator().open(LINE)).toBe('cell-gone');
    expectNothingShown();
  });

  test('when the cell’s input is hidden, then it is shown', async () => {
    const panel = await lab.notebook('digits.ipynb');
    panel.content.widgets[2].inputHidden = true;
    expect(await navigator().open(LINE)).toBe('shown');
    expect(panel.content.widgets[2].inputHidden).toBe(false);
  });

  test('when the cell lies under a heading that is collapsed, then that is opened', async () => {
    const panel = await lab.notebook('digits.ipynb');
    await (panel.content.widgets[0] as MarkdownCell).getHeadings();
    NotebookActions.collapseAllHeadings(panel.content);
    expect(panel.content.widgets[2].isHidden).toBe(true);
    expect(await navigator().open(LINE)).toBe('shown');
    expect(panel.content.widgets[2].isHidden).toBe(false);
  });

  test('when other cells are selected, then only this one is', async () => {
    const panel = await lab.notebook('digits.ipynb');
    NotebookActions.selectAll(panel.content);
    await navigator().open(LINE);
    expect(panel.content.widgets.map(cell => panel.content.isSelectedOrActive(cell))).toEqual([
      false,
      false,
      true
    ]);
  });

  test('when it was renamed since, then the cell is found by its id all the same', async () => {
    const panel = await lab.notebook('digits.ipynb');
    expect(await navigator().open(place({ notebook: 'before.ipynb' }))).toBe('shown');
    expect(inNotebook(panel)).toEqual([2, 12, 'edit']);
  });

  test('when a copy with the same ids is open too, then the notebook that was recorded is shown', async () => {
    const copy = await lab.notebook('work/deep/digits.ipynb');
    const panel = await lab.notebook('digits.ipynb');
    expect(await navigator().open(place({ notebook: '/home/me/work/deep/digits.ipynb' }))).toBe('shown');
    expect(lab.shell.activateById).toHaveBeenCalledExactlyOnceWith(copy.id);
    expect(inNotebook(panel)[2]).toBe('command');
  });
});

describe('given a place without the cell’s id', () => {
  const counted = place({ cell_id: null });

  test('when the notebook is open, then the cell is found by its count', async () => {
    const panel = await lab.notebook('digits.ipynb');
    expect(await navigator().open(counted)).toBe('shown');
    expect(inNotebook(panel)).toEqual([2, 12, 'edit']);
  });

  test('when another cell has that count since a restart, then it is not taken for it', async () => {
    files.set('digits.ipynb', notebookOf([{ id: 'x', source: 'print(1)', count: 2 }]));
    await lab.notebook('digits.ipynb');
    expect(await navigator().open(counted)).toBe('cell-gone');
    expectNothingShown();
  });

  test('when the notebook was not recorded either, then any open one that has the line', async () => {
    files.set('other.ipynb', notebookOf([{ id: 'x', source: 'print(1)', count: 2 }]));
    await lab.notebook('other.ipynb');
    const panel = await lab.notebook('digits.ipynb');
    expect(await navigator().open(place({ cell_id: null, notebook: null }))).toBe('shown');
    expect(inNotebook(panel)).toEqual([2, 12, 'edit']);
  });

  test('when a cell of text stands where no count was recorded, then it is not taken for it', async () => {
    await lab.notebook('digits.ipynb');
    expect(await navigator().open(place({ cell: null, cell_id: 'gone' }))).toBe('cell-gone');
  });
});

describe('given the notebook is closed', () => {
  test('when a place is opened, then it stays closed, and that is said', async () => {
    expect(await navigator().open(LINE)).toBe('not-open');
    expect(lab.hasAsked('digits.ipynb')).toBe(false);
  });

  test('when it is to be opened, then it opens, and the line is shown', async () => {
    expect(navigator().canOpen(LINE)).toBe(true);
    expect(await navigator().openClosed(LINE)).toBe('shown');
    const panel = lab.notebooks.find(() => true) as NotebookPanel;
    expect(inNotebook(panel)).toEqual([2, 12, 'edit']);
  });

  test('when its path is the whole one on the server’s disk, then it is found under the root', async () => {
    expect(await navigator().openClosed(place({ notebook: '/home/me/work/deep/digits.ipynb' }))).toBe(
      'shown'
    );
    expect(lab.notebooks.find(() => true)?.context.path).toBe('work/deep/digits.ipynb');
  });

  test('when it has been deleted, then that it is not open, and no box of JupyterLab complains', async () => {
    expect(await navigator().openClosed(place({ notebook: 'deleted.ipynb' }))).toBe('not-open');
    expect(lab.notebooks.size).toBe(0);
    expect(document.querySelector('.jp-Dialog')).toBeNull();
  });

  test('when the cell is not in it any more, then that', async () => {
    files.set('digits.ipynb', notebookOf([{ id: 'x', source: 'print(1)', count: 1 }]));
    expect(await navigator().openClosed(LINE)).toBe('cell-gone');
  });

  test.each([
    ['it lies outside of the root', place({ notebook: '/data/digits.ipynb' }), {}],
    ['it was not recorded', place({ notebook: null }), {}],
    ['there is nothing to open documents with', LINE, { documents: null }]
  ])('when %s, then nobody promises to open it', async (_, location, changes) => {
    expect(navigator(changes).canOpen(location)).toBe(false);
    expect(await navigator(changes).openClosed(location)).toBe('not-open');
  });

  test('when there are no notebooks in this application at all, then that it is not open', async () => {
    expect(await navigator({ notebooks: null, editors: null, documents: null }).open(LINE)).toBe('not-open');
  });
});

describe('given a place in a file', () => {
  const inFile = (changes: Partial<Location> = {}): Location =>
    place({ ...IN_FILE, file: 'train.py', path: '/home/me/train.py', ...changes });
  const shownIn = (widget: IDocumentWidget | undefined): number | null =>
    selected((widget?.content as unknown as { editor?: CodeEditor.IEditor })?.editor);

  test('when the file is open, then its line is selected, and it is not opened twice', async () => {
    const widget = await lab.file('train.py');
    expect(await navigator().open(inFile())).toBe('shown');
    expect(shownIn(widget)).toBe(12);
    expect(lab.editors.size).toBe(1);
    expect(lab.shell.activateById).toHaveBeenCalledExactlyOnceWith(widget.id);
  });

  test('when it is closed, then it is opened: a file is only looked at', async () => {
    expect(await navigator().open(inFile())).toBe('shown');
    expect(shownIn(lab.editors.find(() => true))).toBe(12);
  });

  test('when a file of that name is open elsewhere, then it is not taken for it', async () => {
    files.set('work/train.py', TRAINING.text);
    const other = await lab.file('train.py');
    expect(await navigator().open(inFile({ path: '/home/me/work/train.py' }))).toBe('shown');
    expect(lab.editors.find(one => one !== other)?.context.path).toBe('work/train.py');
    expect(shownIn(other)).not.toBe(12);
  });

  test('when the server’s root is another name of the folder it was recorded in, then the end of the path decides', async () => {
    const widget = await lab.file('train.py');
    expect(await navigator({ root: '/home/me' }).open(inFile({ path: '/mnt/efs/me/train.py' }))).toBe(
      'shown'
    );
    expect(shownIn(widget)).toBe(12);
  });

  test('when only its name was recorded, then it is looked for under the root', async () => {
    expect(await navigator().open(inFile({ path: null }))).toBe('shown');
  });

  test('when it has been edited so that the line is gone, then that', async () => {
    files.set('train.py', 'pass\n');
    expect(await navigator().open(inFile())).toBe('line-gone');
    expectNothingShown();
  });

  test.each([
    ['lies outside of the root', inFile({ file: '/usr/lib/torch.py', path: '/usr/lib/torch.py' })],
    ['is not there any more', inFile({ file: 'gone.py', path: '/home/me/gone.py' })]
  ])('when it %s, then that it is not open', async (_, location) => {
    expect(await navigator().open(location)).toBe('not-open');
    expect(lab.editors.size).toBe(0);
  });
});
