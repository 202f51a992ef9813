/** The status bar's item: what the live run is doing; a click opens the panel. There only while a run goes on. */
import React from 'react';
import { ReactWidget } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { ISignal, Signal } from '@lumino/signaling';

import { StatusMark } from './components/marks';
import { isLive } from './model';
import { RunSummary } from './records';
import { IStcModel } from './tokens';

class StatusItem extends ReactWidget {
  constructor(
    private readonly model: IStcModel,
    private readonly trans: TranslationBundle,
    private readonly onOpen: () => void
  ) {
    super();
    this.addClass('stc-Status');
    model.changed.connect(this.look, this);
  }

  set isEnabled(value: boolean) {
    this.enabled = value;
    this.look();
  }

  get isWanted(): boolean {
    return this.enabled && this.live !== null;
  }

  get wantedChanged(): ISignal<this, void> {
    return this.changed;
  }

  override dispose(): void {
    this.model.changed.disconnect(this.look, this);
    Signal.clearData(this);
    super.dispose();
  }

  protected override render(): JSX.Element {
    const { live, trans } = this;
    if (live === null) {
      return <></>;
    }
    return (
      <button type="button" className="stc-Status-button" title={live.headline} onClick={this.onOpen}>
        <StatusMark mark="running" trans={trans} silent />
        <span>{trans.__('STC: %1', live.headline)}</span>
      </button>
    );
  }

  private look(): void {
    this.live = this.model.runs?.find(isLive) ?? null;
    this.update();
    if (this.told !== this.isWanted) {
      this.told = this.isWanted;
      this.changed.emit();
    }
  }

  private enabled = true;
  /** What the status bar was told last. */
  private told = false;
  private live: RunSummary | null = null;
  private readonly changed = new Signal<this, void>(this);
}

export const statusItem = (model: IStcModel, trans: TranslationBundle, onOpen: () => void): StatusItem =>
  new StatusItem(model, trans, onOpen);
