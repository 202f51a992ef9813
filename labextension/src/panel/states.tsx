/** What the panel says when there is no report to show: why, and what to do about it. */
import React from 'react';

import { usePanel } from '../components/context';
import { CopyableCode } from '../components/copyable';
import { Empty } from '../components/empty';
import { Connection, ReportState } from '../tokens';

const LOAD = '%load_ext stc';
const MAGIC = '%%stc_compile';
const SCRIPT = 'stc run train.py';
const INSTALL = 'pip install jupyterlab-stc';

/** The connection's trouble, where it keeps the panel from showing anything. */
export function ConnectionState({
  connection,
  onRetry
}: {
  connection: Connection;
  onRetry: () => void;
}): JSX.Element | null {
  const { trans } = usePanel();
  switch (connection.state) {
    case 'connecting':
      return <Empty title={trans.__('Asking the server for runs …')} />;
    case 'missing':
      return (
        <Empty
          role="alert"
          title={trans.__('The server extension is missing')}
          reason={trans.__(
            'The panel is here, but the Jupyter server does not know STC. Install it where the server runs, then restart the server.'
          )}
          code={INSTALL}
        >
          <Retry onRetry={onRetry} />
        </Empty>
      );
    case 'mismatch':
      return (
        <Empty
          role="alert"
          title={trans.__('The server extension has another version')}
          reason={trans.__(
            'The panel is %1 and the server extension %2. Install the same version for both, restart the server and reload this page.',
            connection.panel,
            connection.server
          )}
          code={`${INSTALL}==${connection.panel}`}
        >
          <Retry onRetry={onRetry} />
        </Empty>
      );
    case 'unusable':
      return (
        <Empty role="alert" title={connection.message} reason={connection.remedy ?? undefined}>
          <Retry onRetry={onRetry} />
        </Empty>
      );
    case 'disconnected':
      return (
        <Empty role="alert" title={trans.__('No connection to the server')} reason={connection.reason}>
          <Retry onRetry={onRetry} />
        </Empty>
      );
    default:
      return null;
  }
}

/** A line above a report that is shown all the same. */
export function ConnectionNote({
  connection,
  onRetry
}: {
  connection: Connection;
  onRetry: () => void;
}): JSX.Element | null {
  const { trans } = usePanel();
  if (connection.state === 'connected' || connection.state === 'connecting') {
    return null;
  }
  const words =
    connection.state === 'disconnected'
      ? trans.__('No connection to the server: what is shown may be old.')
      : connection.state === 'mismatch'
        ? trans.__('The panel is %1 and the server extension %2.', connection.panel, connection.server)
        : connection.state === 'unusable'
          ? connection.message
          : trans.__('The server extension is missing.');
  return (
    <p className="stc-Note stc-mod-warning" role="alert">
      {words}{' '}
      <button type="button" className="stc-Link" onClick={onRetry}>
        {trans.__('Try again')}
      </button>
    </p>
  );
}

export function NoRuns({ connection }: { connection: Connection }): JSX.Element {
  const { trans } = usePanel();
  const store = connection.state === 'connected' ? connection.store : null;
  return (
    <Empty
      title={trans.__('No runs yet')}
      reason={trans.__('A run appears here as soon as a cell, block or script trains with STC.')}
    >
      <p className="stc-Empty-reason">{trans.__('Once in a notebook, in a cell of its own:')}</p>
      <CopyableCode code={LOAD} label={trans.__('Copy the line that loads STC')} />
      <p className="stc-Empty-reason">{trans.__('As the first line of the cell that trains:')}</p>
      <CopyableCode code={MAGIC} label={trans.__('Copy the magic')} />
      <p className="stc-Empty-reason">{trans.__('Or in a terminal:')}</p>
      <CopyableCode code={SCRIPT} label={trans.__('Copy the command')} />
      {store !== null && (
        <p className="stc-Empty-reason">
          {trans.__('The server reads the store in')} <code>{store}</code>
        </p>
      )}
    </Empty>
  );
}

export function NoReport({
  state,
  onRetry
}: {
  state: ReportState;
  onRetry: () => void;
}): JSX.Element | null {
  const { trans } = usePanel();
  switch (state.state) {
    case 'loading':
      return <Empty title={trans.__('Loading the run …')} />;
    case 'failed':
      return (
        <Empty role="alert" title={state.message} reason={state.remedy ?? undefined}>
          <Retry onRetry={onRetry} />
        </Empty>
      );
    case 'none':
      return <Empty title={trans.__('No run chosen')} />;
    default:
      return null;
  }
}

function Retry({ onRetry }: { onRetry: () => void }): JSX.Element {
  const { trans } = usePanel();
  return (
    <button type="button" className="stc-Button" onClick={onRetry}>
      {trans.__('Try again')}
    </button>
  );
}
