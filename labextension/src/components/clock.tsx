/** Times that go on by themselves: how long a run has been going, and how long ago one was. */
import React from 'react';
import { TranslationBundle } from '@jupyterlab/translation';

import { elapsed, THIN } from '../format';
import { usePanel } from './context';

/** Now, in seconds since the epoch, renewed every so often; still while `every` is null. */
export function useNow(every: number | null): number {
  const [now, setNow] = React.useState(() => Date.now() / 1000);
  React.useEffect(() => {
    if (every === null) {
      return;
    }
    setNow(Date.now() / 1000);
    const timer = window.setInterval(() => {
      if (!document.hidden) {
        setNow(Date.now() / 1000);
      }
    }, every);
    return () => window.clearInterval(timer);
  }, [every]);
  return now;
}

/** Seconds since a moment, counting up. */
export function Elapsed({ from }: { from: number }): JSX.Element {
  const now = useNow(1000);
  return <span className="stc-Elapsed">{elapsed(now - from)}</span>;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "just now", "3 min ago", "2 h ago", "5 days ago", then the date. */
export function ago(at: number, now: number, trans: TranslationBundle): string {
  const seconds = Math.max(0, now - at);
  if (seconds < MINUTE) {
    return trans.__('just now');
  }
  if (seconds < HOUR) {
    return trans.__('%1 ago', `${Math.floor(seconds / MINUTE)}${THIN}min`);
  }
  if (seconds < DAY) {
    return trans.__('%1 ago', `${Math.floor(seconds / HOUR)}${THIN}h`);
  }
  if (seconds < 14 * DAY) {
    const days = Math.floor(seconds / DAY);
    return trans._n('%1 day ago', '%1 days ago', days);
  }
  return new Date(at * 1000).toLocaleDateString(undefined, {
    year: 'numeric',
    month: 'short',
    day: 'numeric'
  });
}

/** Time since, with the exact moment on hover. */
export function Since({ at }: { at: number }): JSX.Element {
  const now = useNow(20000);
  const moment = new Date(at * 1000);
  return (
    <time dateTime={moment.toISOString()} title={moment.toLocaleString()}>
      {ago(at, now, usePanel().trans)}
    </time>
  );
}
