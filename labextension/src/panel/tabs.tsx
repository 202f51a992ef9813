/** The panel's tabs: arrow keys move between them, as the pattern for tabs asks. */
import React from 'react';

import { Tab } from '../tokens';

export interface ITab {
  tab: Tab;
  title: string;
  count: number;
}

export interface ITabsProps {
  tabs: readonly ITab[];
  current: Tab;
  name: string;
  id: string;
  onShow: (tab: Tab) => void;
}

export function Tabs({ tabs, current, name, id, onShow }: ITabsProps): JSX.Element {
  const list = React.useRef<HTMLDivElement>(null);
  const go = (to: number): void => {
    const next = tabs[(to + tabs.length) % tabs.length];
    onShow(next.tab);
    list.current?.querySelector<HTMLElement>(`#${CSS.escape(`${id}-${next.tab}`)}`)?.focus();
  };
  return (
    <div ref={list} className="stc-Tabs" role="tablist" aria-label={name}>
      {tabs.map(({ tab, title, count }, index) => (
        <button
          key={tab}
          id={`${id}-${tab}`}
          type="button"
          role="tab"
          aria-selected={tab === current}
          aria-controls={`${id}-view`}
          tabIndex={tab === current ? 0 : -1}
          onClick={() => onShow(tab)}
          onKeyDown={event => {
            const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[
              event.key
            ];
            if (to !== undefined) {
              event.preventDefault();
              go(to);
            }
          }}
        >
          {title}
          {count > 0 && <span className="stc-Count">{count}</span>}
        </button>
      ))}
    </div>
  );
}
