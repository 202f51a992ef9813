/** What the small components need everywhere: the translator, and what to do with a location. */
import React from 'react';
import { nullTranslator, TranslationBundle } from '@jupyterlab/translation';

import { Location, Source } from '../records';
import { OpenOutcome } from '../tokens';

export interface IPanelContext {
  trans: TranslationBundle;
  /** The current run's recorded cells and files. */
  sources: readonly Source[];
  openLocation: (location: Location) => Promise<OpenOutcome>;
  openClosed: (location: Location) => Promise<OpenOutcome>;
  canOpen: (location: Location) => boolean;
}

export const PanelContext = React.createContext<IPanelContext>({
  trans: nullTranslator.load('jupyterlab_stc'),
  sources: [],
  openLocation: async () => 'not-open',
  openClosed: async () => 'not-open',
  canOpen: () => false
});

export const usePanel = (): IPanelContext => React.useContext(PanelContext);
