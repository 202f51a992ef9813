/** Code that can be copied, with a button that says that it was. */
import React from 'react';

import { usePanel } from './context';

export interface ICopyableCodeProps {
  code: string;
  /** What is copied, for the button's name: "code" if left out. */
  label?: string;
}

const SAID_MS = 2000;

export function CopyableCode({ code, label }: ICopyableCodeProps): JSX.Element {
  const { trans } = usePanel();
  const [said, setSaid] = React.useState<'copied' | 'failed' | null>(null);

  React.useEffect(() => {
    if (said === null) {
      return;
    }
    const timer = window.setTimeout(() => setSaid(null), SAID_MS);
    return () => window.clearTimeout(timer);
  }, [said]);

  const copy = async (): Promise<void> => {
    try {
      // Not there on a page served without TLS from another host.
      await navigator.clipboard.writeText(code);
      setSaid('copied');
    } catch {
      setSaid('failed');
    }
  };
  const words =
    said === 'copied'
      ? trans.__('Copied')
      : said === 'failed'
        ? trans.__('Select and copy')
        : trans.__('Copy');
  return (
    <div className="stc-Code">
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
      <button
        type="button"
        className="stc-Button stc-Code-copy"
        aria-label={label ?? trans.__('Copy code')}
        onClick={copy}
      >
        {words}
      </button>
      <span className="stc-Hidden" role="status">
        {said ? words : ''}
      </span>
    </div>
  );
}
