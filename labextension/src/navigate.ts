/**
 * From a recorded location to the open notebook or editor: finds the cell by its id, else by its execution count, and
 * finds the line again where the cell has been edited above it.
 */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { Cell, CodeCell } from '@jupyterlab/cells';
import { CodeEditor } from '@jupyterlab/codeeditor';
import { PageConfig } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IDocumentWidget } from '@jupyterlab/docregistry';
import { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';

import { Location } from './records';
import { INavigator, OpenOutcome } from './tokens';

/** How long a cell that has just been scrolled to may take to get its editor. */
const EDITOR_WAIT_MS = 3000;
const POLL_MS = 30;

export interface INavigatorOptions {
  shell: Pick<JupyterFrontEnd.IShell, 'activateById'>;
  notebooks: INotebookTracker | null;
  editors: IEditorTracker | null;
  documents: IDocumentManager | null;
  /** The server's root folder, absolute or beginning with `~`. */
  root?: string;
}

export class Navigator implements INavigator {
  constructor(private readonly options: INavigatorOptions) {}

  canOpen(location: Location): boolean {
    return this.options.documents !== null && this.candidates(location).length > 0;
  }

  async open(location: Location): Promise<OpenOutcome> {
    if (!isInCell(location)) {
      return this.openFile(location);
    }
    const open = this.openNotebooks();
    const named = open.filter(panel => this.isRecorded(panel.context.path, location.notebook));
    const found = findCell(named, open, location);
    if (found === null) {
      return named.length > 0 ? 'cell-gone' : 'not-open';
    }
    return this.showCell(found.panel, found.index, location);
  }

  async openClosed(location: Location): Promise<OpenOutcome> {
    if (!isInCell(location)) {
      return this.openFile(location);
    }
    const widget = await this.openDocument(this.candidates(location));
    if (!(widget instanceof NotebookPanel)) {
      return 'not-open';
    }
    await widget.context.ready;
    const found = findCell([widget], [widget], location);
    return found === null ? 'cell-gone' : this.showCell(widget, found.index, location);
  }

  private async showCell(panel: NotebookPanel, index: number, location: Location): Promise<OpenOutcome> {
    const notebook = panel.content;
    const cell = notebook.widgets[index];
    const line = findLine(cell.model.sharedModel.getSource(), location);
    if (line === null) {
      return 'line-gone';
    }
    this.options.shell.activateById(panel.id);
    await panel.revealed;
    NotebookActions.expandParent(cell, notebook);
    notebook.deselectAll();
    notebook.activeCellIndex = index;
    cell.inputHidden = false;
    await notebook.scrollToCell(cell, 'center').catch(() => undefined);
    const editor = await editorOf(cell);
    if (editor === null) {
      return 'cell-gone';
    }
    notebook.mode = 'edit';
    selectLine(editor, line, location);
    return 'shown';
  }

  private async openFile(location: Location): Promise<OpenOutcome> {
    const open: IDocumentWidget<FileEditor>[] = [];
    this.options.editors?.forEach(widget => open.push(widget));
    const present = open.find(widget => this.isRecorded(widget.context.path, location.path ?? location.file));
    const widget = present ?? (await this.openDocument(this.candidates(location)));
    if (!widget || !(widget.content instanceof FileEditor)) {
      return 'not-open';
    }
    await widget.context.ready;
    const line = findLine(widget.content.model.sharedModel.getSource(), location);
    if (line === null) {
      return 'line-gone';
    }
    this.options.shell.activateById(widget.id);
    await widget.revealed;
    selectLine(widget.content.editor, line, location);
    return 'shown';
  }

  /** The first of the paths that exists, opened; nothing is opened where none does, so that no error box appears. */
  private async openDocument(paths: readonly string[]): Promise<IDocumentWidget | null> {
    const { documents } = this.options;
    if (documents === null) {
      return null;
    }
    for (const path of paths) {
      try {
        await documents.services.contents.get(path, { content: false });
      } catch {
        continue;
      }
      return documents.openOrReveal(path) ?? null;
    }
    return null;
  }

  /** What the location may be called under the server's root, likeliest first. */
  private candidates(location: Location): string[] {
    const path = isInCell(location) ? location.notebook : (location.path ?? location.file);
    if (!path) {
      return [];
    }
    const inside = underRoot(path, this.root);
    const written = isAbsolute(path) ? [] : [path];
    const relative = isInCell(location) || isAbsolute(location.file) ? [] : [location.file];
    return [...new Set([...(inside === null ? [] : [inside]), ...written, ...relative])];
  }

  /** Whether an open document is the recorded one. The whole of its path counts, where that is known. */
  private isRecorded(contents: string, recorded: string | null): boolean {
    const inside = recorded === null ? null : underRoot(recorded, this.root);
    return inside === null ? isSamePath(contents, recorded) : tidy(contents) === inside;
  }

  private get root(): string {
    return this.options.root ?? PageConfig.getOption('serverRoot');
  }

  private openNotebooks(): NotebookPanel[] {
    const all: NotebookPanel[] = [];
    this.options.notebooks?.forEach(panel => all.push(panel));
    const current = this.options.notebooks?.currentWidget;
    return all.sort((a, b) => Number(b === current) - Number(a === current));
  }
}

/** Notebook cells have an execution count or an id; files have neither. */
export const isInCell = (location: Location): boolean => location.cell !== null || location.cell_id !== null;

const isAbsolute = (path: string): boolean => /^(\/|[A-Za-z]:[\\/])/.test(path);

const tidy = (path: string): string => path.replace(/\\/g, '/').replace(/^[A-Za-z0-9_-]+:(?!\/)/, '');

/** Whether a contents path and a recorded path, absolute or not, name the same file. */
export function isSamePath(contents: string, recorded: string | null): boolean {
  if (recorded === null) {
    return false;
  }
  const [short, long] = [tidy(contents), tidy(recorded)];
  return short === long || (isAbsolute(recorded) && long.endsWith(`/${short}`));
}

/** A path of the server's disk as a path under its root; null where it lies outside. `~` stands for the home folder. */
export function underRoot(path: string, root: string): string | null {
  const [whole, top] = [tidy(path), tidy(root).replace(/\/$/, '')];
  if (!isAbsolute(path) || !root) {
    return null;
  }
  if (top.startsWith('~')) {
    // The home folder's own path is not told: look for what comes after it, below /home/name, /Users/name or /root.
    const home = /^(\/root|\/(?:home|Users)\/[^/]+|[A-Za-z]:\/Users\/[^/]+|\/[^/]+)(?=\/)/.exec(whole)?.[0];
    const start = `${home ?? ''}${top.slice(1)}/`;
    return home !== undefined && whole.startsWith(start) ? whole.slice(start.length) : null;
  }
  return whole.startsWith(`${top}/`) ? whole.slice(top.length + 1) : null;
}

interface IFound {
  panel: NotebookPanel;
  index: number;
}

/**
 * By id in the named notebook, by id anywhere (it may have been renamed), then by execution count. Counts start again
 * with the kernel, so a cell counts only if the recorded line is in it.
 */
function findCell(
  named: readonly NotebookPanel[],
  open: readonly NotebookPanel[],
  location: Location
): IFound | null {
  const search = (panels: readonly NotebookPanel[], matches: (cell: Cell) => boolean): IFound | null => {
    for (const panel of panels) {
      const index = panel.content.widgets.findIndex(matches);
      if (index >= 0) {
        return { panel, index };
      }
    }
    return null;
  };
  const hasId = (cell: Cell): boolean => location.cell_id !== null && cell.model.id === location.cell_id;
  const hasCount = (cell: Cell): boolean =>
    cell instanceof CodeCell &&
    cell.model.executionCount === location.cell &&
    location.cell !== null &&
    (location.text === null || findLine(cell.model.sharedModel.getSource(), location) !== null);
  return (
    search(named, hasId) ?? search(open, hasId) ?? search(location.notebook === null ? open : named, hasCount)
  );
}

/** The line's index from 0 in today's text: where it was, else the nearest line that reads the same; null: gone. */
export function findLine(source: string, location: Pick<Location, 'line' | 'text'>): number | null {
  const lines = source.split('\n');
  const index = location.line - 1;
  if (location.text === null) {
    return index < lines.length ? index : null;
  }
  const wanted = location.text.trim();
  const same = lines.flatMap((text, at) => (text.trim() === wanted ? [at] : []));
  return same.sort((a, b) => Math.abs(a - index) - Math.abs(b - index))[0] ?? null;
}

/** A windowed notebook makes a cell's editor when the cell comes into view. */
async function editorOf(cell: Cell): Promise<CodeEditor.IEditor | null> {
  const until = Date.now() + EDITOR_WAIT_MS;
  while (cell.editor === null && Date.now() < until && !cell.isDisposed) {
    await new Promise(resolve => window.setTimeout(resolve, POLL_MS));
  }
  return cell.editor;
}

function selectLine(editor: CodeEditor.IEditor, line: number, location: Location): void {
  const length = editor.getLine(line)?.length ?? 0;
  editor.focus();
  editor.setSelection({ start: { line, column: 0 }, end: { line, column: length } });
  editor.revealPosition({ line, column: Math.min(location.column ?? 0, length) });
}
