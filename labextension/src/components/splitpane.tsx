/** Two panes with a divider that can be dragged, or moved with the arrow keys; one below the other where it is narrow. */
import React from 'react';

import { usePanel } from './context';

export interface ISplitPaneProps {
  first: React.ReactNode;
  second: React.ReactNode;
  /** One column, with no divider. */
  stacked: boolean;
  /** Share of the first pane at the start, in per cent. */
  initial?: number;
  /** Where the share is remembered, between visits of the view. */
  name: string;
}

const SMALLEST = 20;
const LARGEST = 80;
const KEY_STEP = 4;

/** Shares by name, for as long as the page lives. */
const remembered = new Map<string, number>();

export function SplitPane({ first, second, stacked, initial = 45, name }: ISplitPaneProps): JSX.Element {
  const { trans } = usePanel();
  const frame = React.useRef<HTMLDivElement>(null);
  const [share, setShare] = React.useState(remembered.get(name) ?? initial);
  const [dragging, setDragging] = React.useState(false);

  const move = (value: number): void => {
    const next = Math.min(LARGEST, Math.max(SMALLEST, value));
    remembered.set(name, next);
    setShare(next);
  };
  const dragged = (event: React.PointerEvent): void => {
    const at = frame.current?.getBoundingClientRect();
    if (dragging && at && at.width > 0) {
      move(((event.clientX - at.left) / at.width) * 100);
    }
  };
  const pressed = (event: React.KeyboardEvent): void => {
    const change = { ArrowLeft: -KEY_STEP, ArrowRight: KEY_STEP, Home: -100, End: 100 }[event.key];
    if (change !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      move(share + change);
    }
  };
  return (
    <div ref={frame} className={`stc-Split ${stacked ? 'stc-mod-stacked' : ''}`}>
      <div className="stc-Split-pane" style={stacked ? undefined : { flexBasis: `${share}%` }}>
        {first}
      </div>
      {!stacked && (
        <div
          className={`stc-Split-divider ${dragging ? 'stc-mod-dragging' : ''}`}
          role="separator"
          aria-orientation="vertical"
          aria-label={trans.__('Width of the left side')}
          aria-valuemin={SMALLEST}
          aria-valuemax={LARGEST}
          aria-valuenow={Math.round(share)}
          tabIndex={0}
          onPointerDown={event => {
            event.preventDefault();
            event.currentTarget.setPointerCapture(event.pointerId);
            setDragging(true);
          }}
          onPointerMove={dragged}
          onPointerUp={() => setDragging(false)}
          onPointerCancel={() => setDragging(false)}
          onDoubleClick={() => move(initial)}
          onKeyDown={pressed}
        />
      )}
      <div className="stc-Split-pane stc-mod-rest">{second}</div>
    </div>
  );
}
