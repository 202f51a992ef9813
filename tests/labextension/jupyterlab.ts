/**
 * JupyterLab's own documents, notebooks and editors over files in memory: only the network below them is replaced.
 */
import { WidgetTracker } from '@jupyterlab/apputils';
import {
  CodeMirrorEditorFactory,
  CodeMirrorMimeTypeService,
  EditorExtensionRegistry,
  EditorLanguageRegistry,
  ybinding
} from '@jupyterlab/codemirror';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { DocumentManager } from '@jupyterlab/docmanager';
import { DocumentRegistry, IDocumentWidget, TextModelFactory } from '@jupyterlab/docregistry';
import { FileEditor, FileEditorFactory } from '@jupyterlab/fileeditor';
import {
  NotebookModelFactory,
  NotebookPanel,
  NotebookTracker,
  NotebookWidgetFactory,
  StaticNotebook
} from '@jupyterlab/notebook';
import { IMarkdownParser, RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { ServerConnection, ServiceManager } from '@jupyterlab/services';
import { Widget } from '@lumino/widgets';
import { vi } from 'vitest';

export interface ICellSource {
  id: string;
  source: string;
  /** Left out: a cell of text. */
  count?: number | null;
}

/** A notebook file. */
export function notebookOf(cells: readonly ICellSource[]): string {
  return JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      kernelspec: { name: 'python3', display_name: 'Python 3' },
      language_info: { name: 'python' }
    },
    cells: cells.map(({ id, source, count }) =>
      count === undefined
        ? { cell_type: 'markdown', id, metadata: {}, source }
        : { cell_type: 'code', id, metadata: {}, source, outputs: [], execution_count: count }
    )
  });
}

class NoSocket extends EventTarget {
  readonly readyState = 0;
  close(): void {
    return undefined;
  }
  send(): void {
    return undefined;
  }
}

const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'Content-Type': 'application/json' } });

/** The contents API, as far as opening needs it. */
function answer(files: ReadonlyMap<string, string>, url: URL): Response {
  const asked = /\/api\/contents\/(.*)$/.exec(decodeURIComponent(url.pathname))?.[1];
  if (asked === undefined) {
    return json(url.pathname.endsWith('kernelspecs') ? { default: 'python3', kernelspecs: {} } : []);
  }
  if (asked.endsWith('/checkpoints')) {
    return json([{ id: 'checkpoint', last_modified: '2025-12-01T12:00:00Z' }]);
  }
  const text = files.get(asked);
  if (text === undefined) {
    return json({ message: 'No such file' }, 404);
  }
  const notebook = asked.endsWith('.ipynb');
  const bare = url.searchParams.get('content') === '0';
  return json({
    name: asked.split('/').pop(),
    path: asked,
    type: notebook ? 'notebook' : 'file',
    format: bare ? null : notebook ? 'json' : 'text',
    content: bare ? null : notebook ? JSON.parse(text) : text,
    mimetype: bare || notebook ? null : 'text/x-python',
    writable: true,
    created: '2025-12-01T12:00:00Z',
    last_modified: '2025-12-01T12:00:00Z'
  });
}

function editorServices(): IEditorServices {
  const languages = new EditorLanguageRegistry();
  EditorLanguageRegistry.getDefaultLanguages()
    .filter(language => language.name === 'Python')
    .forEach(language => languages.addLanguage(language));
  const extensions = new EditorExtensionRegistry();
  extensions.addExtension({
    name: 'binding',
    factory: ({ model }) =>
      EditorExtensionRegistry.createImmutableExtension(
        ybinding({ ytext: (model.sharedModel as never as { ysource: never }).ysource })
      )
  });
  return {
    factoryService: new CodeMirrorEditorFactory({ languages, extensions }),
    mimeTypeService: new CodeMirrorMimeTypeService(languages)
  };
}

/** As much of Markdown as folding a notebook's parts takes. */
const HEADINGS: IMarkdownParser = {
  render: async text => text.replace(/^# (.*)$/gm, '<h1>$1</h1>'),
  getHeadingTokens: async text =>
    text.split('\n').flatMap((raw, line) => (raw.startsWith('# ') ? [{ raw, line }] : []))
};

/** What a tracker has, in a list of its own. */
function all(tracker: { forEach: (each: (widget: Widget) => void) => void }): Widget[] {
  const found: Widget[] = [];
  tracker.forEach(widget => found.push(widget));
  return found;
}

/** What the server has, and what was asked of it. There is one for all tests: a page has one connection, too. */
const server = { files: new Map<string, string>() as ReadonlyMap<string, string>, asked: [] as string[] };
let services: ServiceManager | null = null;

function connect(): ServiceManager {
  return new ServiceManager({
    standby: 'never',
    serverSettings: ServerConnection.makeSettings({
      baseUrl: 'http://localhost:8888/',
      WebSocket: NoSocket as unknown as typeof WebSocket,
      fetch: async input => {
        const url = new URL(new Request(input).url);
        server.asked.push(decodeURIComponent(url.pathname));
        return answer(server.files, url);
      }
    })
  });
}

export function makeLab(files: ReadonlyMap<string, string>) {
  server.files = files;
  server.asked.length = 0;
  services ??= connect();
  const registry = new DocumentRegistry({ textModelFactory: new TextModelFactory() });
  const editing = editorServices();
  const notebooks = new NotebookTracker({ namespace: 'notebooks' });
  const editors = new WidgetTracker<IDocumentWidget<FileEditor>>({ namespace: 'editors' });
  const shell = { activateById: vi.fn() };
  registry.addModelFactory(new NotebookModelFactory({}));
  const notebookFactory = new NotebookWidgetFactory({
    name: 'Notebook',
    modelName: 'notebook',
    fileTypes: ['notebook'],
    defaultFor: ['notebook'],
    rendermime: new RenderMimeRegistry({
      initialFactories: standardRendererFactories,
      markdownParser: HEADINGS
    }),
    contentFactory: new NotebookPanel.ContentFactory({
      editorFactory: options => editing.factoryService.newInlineEditor(options)
    }),
    mimeTypeService: editing.mimeTypeService,
    notebookConfig: { ...StaticNotebook.defaultNotebookConfig, windowingMode: 'none' }
  });
  notebookFactory.widgetCreated.connect((_, panel) => void notebooks.add(panel));
  registry.addWidgetFactory(notebookFactory);
  const editorFactory = new FileEditorFactory({
    editorServices: editing,
    factoryOptions: { name: 'Editor', fileTypes: ['*'], defaultFor: ['*'] }
  });
  editorFactory.widgetCreated.connect((_, widget) => void editors.add(widget));
  registry.addWidgetFactory(editorFactory);
  const documents = new DocumentManager({
    registry,
    manager: services,
    opener: {
      open: widget => {
        widget.id ||= `doc-${Math.random()}`;
        Widget.attach(widget, document.body);
      },
      opened: { connect: () => true, disconnect: () => true } as never
    }
  });
  /** As if the user had opened it. */
  const opened = async (path: string): Promise<IDocumentWidget> => {
    const widget = documents.openOrReveal(path) as IDocumentWidget;
    await widget.context.ready;
    await widget.revealed;
    return widget;
  };
  return {
    shell,
    notebooks,
    editors,
    documents,
    notebook: async (path: string) => (await opened(path)) as NotebookPanel,
    file: async (path: string) => (await opened(path)) as IDocumentWidget<FileEditor>,
    /** Whether anything was asked about a file. */
    hasAsked: (path: string) => server.asked.some(one => one.includes(`/api/contents/${path}`)),
    dispose: () => {
      [...all(notebooks), ...all(editors)].forEach(widget => widget.dispose());
      documents.dispose();
      notebooks.dispose();
      editors.dispose();
    }
  };
}
