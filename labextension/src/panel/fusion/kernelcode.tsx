/** A kernel's generated code, fetched when it is wanted; the whole file of its graph on request. */
import React from 'react';
import { TranslationBundle } from '@jupyterlab/translation';

import { Listing } from '../../components/code';
import { usePanel } from '../../components/context';
import { Kernel } from '../../records';
import { IStcModel } from '../../tokens';

export interface IKernelCodeProps {
  kernel: Kernel;
  /** Artefact with all code of the graph. */
  whole: string | null;
  model: IStcModel;
  runId: string;
}

type Loaded = { artefact: string; text: string } | { artefact: string; failure: string };

export function KernelCode({ kernel, whole, model, runId }: IKernelCodeProps): JSX.Element {
  const { trans } = usePanel();
  const artefact = kernel.code?.artefact ?? whole;
  const [loaded, setLoaded] = React.useState<Loaded | null>(null);
  const [everything, setEverything] = React.useState(false);
  React.useEffect(() => {
    if (artefact === null) {
      return;
    }
    let wanted = true;
    const settle = (outcome: Loaded): void => {
      if (wanted) {
        setLoaded(outcome);
      }
    };
    model.artefact(runId, artefact).then(
      text => settle({ artefact, text }),
      (reason: unknown) =>
        settle({ artefact, failure: reason instanceof Error ? reason.message : String(reason) })
    );
    return () => {
      wanted = false;
    };
  }, [artefact, model, runId]);

  const body = (): JSX.Element => {
    if (artefact === null) {
      return <p className="stc-Note">{whyNone(kernel, trans)}</p>;
    }
    if (loaded === null || loaded.artefact !== artefact) {
      return (
        <p className="stc-Note" role="status">
          {trans.__('Loading the code…')}
        </p>
      );
    }
    if ('failure' in loaded) {
      return (
        <p className="stc-Note" role="alert">
          {trans.__('The code cannot be shown: %1', loaded.failure)}
        </p>
      );
    }
    const lines = loaded.text.split('\n');
    const part = kernel.code;
    const cut = part !== null && !everything;
    const text = cut ? lines.slice(part.first_line - 1, part.last_line).join('\n') : loaded.text;
    return (
      <>
        <Listing
          text={text}
          firstLine={cut ? part.first_line : 1}
          label={trans.__('Generated code of %1', kernel.name)}
        />
        {part !== null && (
          <button type="button" className="stc-Link" onClick={() => setEverything(!everything)}>
            {everything
              ? trans.__('Only this kernel')
              : trans.__('The whole file, %1 lines', lines.length.toLocaleString('en'))}
          </button>
        )}
      </>
    );
  };
  return (
    <section className="stc-Section">
      <h4>{trans.__('Generated code')}</h4>
      {body()}
    </section>
  );
}

function whyNone(kernel: Kernel, trans: TranslationBundle): string {
  const kind: string = kernel.kind;
  return kind === 'library' || kind === 'fallback'
    ? trans.__('Nothing was generated: it is a call of existing code.')
    : trans.__('Its code was not recorded.');
}
