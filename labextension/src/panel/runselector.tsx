/** The run list: live runs first, then by notebook, newest first; searchable; rename and delete in place. */
import React from 'react';

import { Since } from '../components/clock';
import { usePanel } from '../components/context';
import { markOf, markWords, StatusMark } from '../components/marks';
import { ratio } from '../format';
import { Run, RunSummary } from '../records';

export interface IRunSelectorProps {
  runs: readonly RunSummary[];
  currentId: string | null;
  onOpen: (runId: string) => void;
  onRename: (runId: string, name: string) => Promise<void>;
  onDelete: (run: Run) => Promise<void>;
}

/** Where a run came from, as the list groups it. */
export function groupOf(run: Run): string {
  const { notebook, script } = run.origin;
  const path = notebook ?? script;
  return path ? (path.split('/').pop() ?? path) : run.origin.kind;
}

export function matches(summary: RunSummary, filter: string): boolean {
  const { run } = summary;
  const words = [run.name, run.status, run.target, run.plan, groupOf(run), summary.headline]
    .join(' ')
    .toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every(word => words.includes(word));
}

export function RunSelector(props: IRunSelectorProps): JSX.Element {
  const { runs, currentId, onOpen } = props;
  const { trans } = usePanel();
  const [open, setOpen] = React.useState(false);
  const [filter, setFilter] = React.useState('');
  const frame = React.useRef<HTMLDivElement>(null);
  const toggle = React.useRef<HTMLButtonElement>(null);
  const id = React.useId();
  const current = runs.find(one => one.run.id === currentId) ?? null;
  const shown = runs.filter(one => matches(one, filter));
  const live = shown.filter(one => one.run.status === 'running');
  const groups = new Map<string, RunSummary[]>();
  for (const one of shown.filter(other => other.run.status !== 'running')) {
    const name = groupOf(one.run);
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  const close = (): void => {
    setOpen(false);
    setFilter('');
    toggle.current?.focus();
  };
  const choose = (runId: string): void => {
    onOpen(runId);
    close();
  };
  React.useEffect(() => {
    if (!open) {
      return;
    }
    frame.current?.querySelector<HTMLInputElement>('input')?.focus();
    const away = (event: MouseEvent): void => {
      if (event.target instanceof Node && !frame.current?.contains(event.target)) {
        setOpen(false);
      }
    };
    document.addEventListener('mousedown', away);
    return () => document.removeEventListener('mousedown', away);
  }, [open]);

  const list = (title: string, members: readonly RunSummary[]): JSX.Element | null =>
    members.length === 0 ? null : (
      <section key={title} aria-label={title}>
        <h4 className="stc-Runs-group">{title}</h4>
        <ul>
          {members.map(one => (
            <RunRow key={one.run.id} summary={one} {...props} onOpen={choose} />
          ))}
        </ul>
      </section>
    );

  return (
    <div
      className="stc-Runs"
      ref={frame}
      onKeyDown={event => {
        if (event.key === 'Escape' && open) {
          event.stopPropagation();
          close();
        }
        if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && open) {
          event.preventDefault();
          move(frame.current, event.key === 'ArrowDown' ? 1 : -1);
        }
      }}
    >
      <button
        ref={toggle}
        type="button"
        className="stc-Runs-toggle"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={trans.__('Choose a run')}
        title={current?.run.name}
        onClick={() => setOpen(!open)}
      >
        {current && <StatusMark mark={markOf(current.run)} trans={trans} />}
        <span className="stc-Runs-name">{current?.run.name ?? trans.__('No run chosen')}</span>
        {current && (
          <span className="stc-Runs-since">
            <Since at={current.run.started_at} />
          </span>
        )}
        <span className="stc-Caret" aria-hidden="true" />
      </button>
      {open && (
        <div id={id} className="stc-Runs-list">
          <input
            type="search"
            className="stc-Filter"
            placeholder={trans.__('Filter runs')}
            aria-label={trans.__('Filter runs')}
            value={filter}
            onChange={event => setFilter(event.target.value)}
          />
          <div className="stc-Runs-scroll">
            {list(trans.__('Running'), live)}
            {[...groups].map(([name, members]) => list(name, members))}
            {shown.length === 0 && <p className="stc-Note">{trans.__('No run matches “%1”.', filter)}</p>}
          </div>
        </div>
      )}
    </div>
  );
}

/** Arrow keys go from run to run. */
function move(frame: HTMLElement | null, by: number): void {
  const rows = [...(frame?.querySelectorAll<HTMLElement>('.stc-Run-open') ?? [])];
  const at = rows.findIndex(row => row === document.activeElement);
  rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

function RunRow({
  summary,
  currentId,
  onOpen,
  onRename,
  onDelete
}: IRunSelectorProps & { summary: RunSummary }): JSX.Element {
  const { trans } = usePanel();
  const { run } = summary;
  const [name, setName] = React.useState<string | null>(null);
  const field = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => {
    field.current?.select();
  }, [name !== null]); // eslint-disable-line react-hooks/exhaustive-deps
  const rename = async (): Promise<void> => {
    const wanted = name?.trim();
    setName(null);
    if (wanted && wanted !== run.name) {
      await onRename(run.id, wanted);
    }
  };
  const mark = markOf(run);
  return (
    <li className={`stc-Run ${run.id === currentId ? 'stc-mod-current' : ''}`}>
      {name === null ? (
        <button
          type="button"
          className="stc-Run-open"
          aria-current={run.id === currentId ? 'true' : undefined}
          onClick={() => onOpen(run.id)}
        >
          <StatusMark mark={mark} trans={trans} />
          <span className="stc-Run-text">
            <span className="stc-Run-name">{run.name}</span>
            <span className="stc-Run-line">
              <Since at={run.started_at} /> · {markWords(mark, trans).toLowerCase()}
              {summary.speedup !== null && ` · ${ratio(summary.speedup)}`}
              {summary.errors > 0 && ` · ${trans._n('%1 error', '%1 errors', summary.errors)}`}
              {summary.warnings > 0 && ` · ${trans._n('%1 warning', '%1 warnings', summary.warnings)}`}
            </span>
          </span>
        </button>
      ) : (
        <input
          ref={field}
          className="stc-Filter"
          aria-label={trans.__('New name of %1', run.name)}
          value={name}
          maxLength={200}
          onChange={event => setName(event.target.value)}
          onBlur={() => void rename()}
          onKeyDown={event => {
            if (event.key === 'Enter') {
              void rename();
            } else if (event.key === 'Escape') {
              event.stopPropagation();
              setName(null);
            }
          }}
        />
      )}
      {name === null && (
        <span className="stc-Run-actions">
          <button
            type="button"
            className="stc-Link"
            aria-label={trans.__('Rename %1', run.name)}
            onClick={() => setName(run.name)}
          >
            {trans.__('Rename')}
          </button>
          <button
            type="button"
            className="stc-Link"
            disabled={run.status === 'running'}
            title={run.status === 'running' ? trans.__('A run that goes on cannot be deleted.') : undefined}
            aria-label={trans.__('Delete %1', run.name)}
            onClick={() => void onDelete(run)}
          >
            {trans.__('Delete')}
          </button>
        </span>
      )}
    </li>
  );
}
