/** A sentence of the record, with what stands between backticks as code. */
import React from 'react';

export function Words({ text }: { text: string }): JSX.Element {
  return (
    <>
      {text
        .split(/`([^`]+)`/)
        .map((part, index) =>
          index % 2 === 1 ? <code key={index}>{part}</code> : <span key={index}>{part}</span>
        )}
    </>
  );
}
