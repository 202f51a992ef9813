/** Generated code to read: numbered as in its file, coloured, with a button that copies it. */
import React from 'react';

import { usePanel } from './context';
import { IPiece, useHighlighted } from './highlight';

export function Pieces({ pieces }: { pieces: readonly IPiece[] }): JSX.Element {
  return (
    <>
      {pieces.map((piece, index) =>
        piece.classes ? (
          <span key={index} className={piece.classes}>
            {piece.text}
          </span>
        ) : (
          piece.text
        )
      )}
    </>
  );
}

export interface IListingProps {
  text: string;
  /** Number of the text's first line. */
  firstLine: number;
  /** Its name for screen readers. */
  label: string;
}

/** A generated file can have tens of thousands of lines; what is beyond is there on demand. */
const LINES_AT_FIRST = 400;
const SAID_MS = 2000;

export function Listing({ text, firstLine, label }: IListingProps): JSX.Element {
  const { trans } = usePanel();
  const lines = useHighlighted(text, 'generated');
  const [all, setAll] = React.useState(false);
  const shown = all ? lines : lines.slice(0, LINES_AT_FIRST);
  const digits = String(firstLine + lines.length - 1).length;
  return (
    <div className="stc-Listing">
      <div className="stc-Listing-code stc-Syntax" role="region" aria-label={label} tabIndex={0}>
        {shown.map((pieces, index) => (
          <div key={index} className="stc-Listing-line">
            <span className="stc-Listing-number" aria-hidden="true" style={{ width: `${digits}ch` }}>
              {firstLine + index}
            </span>
            <code>
              <Pieces pieces={pieces} />
            </code>
          </div>
        ))}
      </div>
      {lines.length > shown.length && (
        <button type="button" className="stc-Button" onClick={() => setAll(true)}>
          {trans.__('Show all %1 lines', lines.length)}
        </button>
      )}
      <CopyButton text={text} />
    </div>
  );
}

function CopyButton({ text }: { text: string }): JSX.Element {
  const { trans } = usePanel();
  const [said, setSaid] = React.useState('');
  React.useEffect(() => {
    if (said) {
      const timer = window.setTimeout(() => setSaid(''), SAID_MS);
      return () => window.clearTimeout(timer);
    }
    return undefined;
  }, [said]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(trans.__('Copied'));
    } catch {
      setSaid(trans.__('Select and copy'));
    }
  };
  return (
    <button type="button" className="stc-Button stc-Listing-copy" onClick={copy}>
      <span role="status">{said || trans.__('Copy')}</span>
    </button>
  );
}
