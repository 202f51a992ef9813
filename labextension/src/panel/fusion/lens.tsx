/**
 * The code lens: the user's own lines, each with the kernels it became as coloured blocks.
 *
 * Lines and kernels light each other up; a line that became nothing says so; one that broke the graph has a red bar.
 */
import React from 'react';
import { TranslationBundle } from '@jupyterlab/translation';

import { Pieces } from '../../components/code';
import { usePanel } from '../../components/context';
import { IPiece, useHighlighted } from '../../components/highlight';
import { useWidth } from '../../components/width';
import { Words } from '../../components/words';
import { count } from '../../format';
import { ILine } from '../../tokens';
import { KernelBlock, phaseWords } from './blocks';
import { IKernelRow, shortName } from './kernels';
import { ILensFile, ILensLine, isMarked, stretches } from './lensdata';

export interface ILensProps {
  files: readonly ILensFile[];
  width: 'narrow' | 'wide';
  /** Kernels that are pointed at or selected. */
  lit: ReadonlySet<string>;
  selected: ILine | null;
  onPoint: (line: ILine | null) => void;
  onSelectLine: (line: ILine | null) => void;
  onOpenKernel: (row: IKernelRow) => void;
  onShowBreak: (id: string) => void;
}

/** Blocks a line shows before "+n". */
const BLOCKS = { narrow: 6, wide: 3 } as const;
const BLOCK_PX = 27;
const LABELS_SAID = 8;

/** From this width on there is room for the blocks beside the code; in a pane that is narrower they stand below their line. */
const BESIDE_PX = 480;

export function Lens(props: ILensProps): JSX.Element {
  const frame = React.useRef<HTMLDivElement>(null);
  const pane = useWidth(frame, BESIDE_PX, props.width);
  const width = props.width === 'narrow' ? 'narrow' : pane;
  return (
    <div ref={frame} className={`stc-LensFrame stc-mod-${width}`}>
      <FittedLens {...props} width={width} />
    </div>
  );
}

function FittedLens(props: ILensProps): JSX.Element {
  const { trans } = usePanel();
  const { files, width } = props;
  const most = BLOCKS[width];
  const gutter = React.useMemo(() => {
    let widest = 1;
    for (const file of files) {
      for (const line of file.lines) {
        widest = Math.max(widest, Math.min(line.kernels.length, most + 1));
      }
    }
    return widest * BLOCK_PX;
  }, [files, most]);

  /** Up and down go through the lines, left and right through the blocks of one. */
  const pressed = (event: React.KeyboardEvent<HTMLElement>): void => {
    const target = event.target instanceof HTMLElement ? event.target : null;
    const line = target?.closest('.stc-Lens-line');
    if (!target || !line || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const within = [...line.querySelectorAll<HTMLElement>('button')];
    const numbers = [...event.currentTarget.querySelectorAll<HTMLElement>('button.stc-Lens-number')];
    const at = numbers.findIndex(number => line.contains(number));
    const goal = {
      ArrowDown: numbers[at + 1],
      ArrowUp: numbers[at - 1],
      Home: numbers[0],
      End: numbers[numbers.length - 1],
      ArrowRight: within[within.indexOf(target) + 1],
      ArrowLeft: within[within.indexOf(target) - 1]
    }[event.key];
    if (goal) {
      event.preventDefault();
      event.stopPropagation();
      goal.focus();
    } else if (event.key === 'Escape' && props.selected) {
      event.stopPropagation();
      props.onSelectLine(null);
    }
  };
  return (
    <div
      className="stc-Lens"
      role="group"
      aria-label={trans.__('Your code, and the kernels it became')}
      style={{ '--stc-gutter': `${gutter}px` } as React.CSSProperties}
      onKeyDown={pressed}
      onMouseLeave={() => props.onPoint(null)}
    >
      {files.map((file, index) => (
        <LensFile key={file.file} {...props} file={file} first={index === 0} />
      ))}
    </div>
  );
}

function LensFile(props: ILensProps & { file: ILensFile; first: boolean }): JSX.Element {
  const { trans } = usePanel();
  const { file, selected, lit } = props;
  const [opened, setOpened] = React.useState<ReadonlySet<number>>(new Set());
  const [folded, setFolded] = React.useState(false);
  const text = React.useMemo(() => file.lines.map(line => line.text).join('\n'), [file]);
  const pieces = useHighlighted(text, 'user');
  const parts = React.useMemo(() => stretches(file.lines), [file]);
  const first = file.lines[0]?.number ?? 1;
  const tabbable = file.lines.find(line => isMarked(line))?.number;
  const at = new Map(file.lines.map((line, index) => [line.number, index]));

  const latest = React.useRef(props);
  latest.current = props;
  const point = React.useCallback(
    (number: number | null) =>
      latest.current.onPoint(number === null ? null : { file: latest.current.file.file, line: number }),
    []
  );
  const select = React.useCallback((number: number) => {
    const { file: now, selected: old, onSelectLine } = latest.current;
    const same = old?.file === now.file && old.line === number;
    onSelectLine(same ? null : { file: now.file, line: number });
  }, []);
  const open = React.useCallback((row: IKernelRow) => latest.current.onOpenKernel(row), []);
  const showBreak = React.useCallback((id: string) => latest.current.onShowBreak(id), []);

  const kernels = new Set(file.lines.flatMap(line => line.kernels.map(({ row }) => row.kernel.id)));
  return (
    <section className="stc-Lens-file" aria-label={file.file}>
      <h4 className="stc-Lens-head">
        <button
          type="button"
          className="stc-Lens-fold"
          aria-expanded={!folded}
          onClick={() => setFolded(!folded)}
        >
          <span aria-hidden="true" className="stc-Fold-mark" />
          {file.file}
        </button>
        <span className="stc-mod-note">{trans._n('%1 kernel', '%1 kernels', kernels.size)}</span>
        {file.source === null && (
          <span className="stc-mod-note">
            {trans.__('Its text was not recorded; these are the lines known of it.')}
          </span>
        )}
      </h4>
      {!folded && (
        <div className="stc-Lens-lines stc-Syntax">
          {parts.map(part => {
            const from = part.lines[0].number;
            if (!part.shown && !opened.has(from)) {
              return (
                <button
                  key={`gap-${from}`}
                  type="button"
                  className="stc-Lens-gap"
                  onClick={() => setOpened(new Set(opened).add(from))}
                >
                  {trans.__(
                    '⋯ lines %1 to %2 became no operations',
                    from,
                    part.lines[part.lines.length - 1].number
                  )}
                </button>
              );
            }
            return part.lines.map(line => {
              const near = line.kernels.filter(({ row }) => lit.has(row.kernel.id));
              return (
                <LensLine
                  key={line.number}
                  line={line}
                  pieces={pieces[at.get(line.number) ?? line.number - first]}
                  most={BLOCKS[props.width]}
                  tabbable={line.number === tabbable}
                  selected={selected?.file === file.file && selected.line === line.number}
                  lit={near.map(({ row }) => row.kernel.id).join('\n')}
                  onPoint={point}
                  onSelect={select}
                  onOpen={open}
                  onShowBreak={showBreak}
                />
              );
            });
          })}
        </div>
      )}
    </section>
  );
}

interface ILensLineProps {
  line: ILensLine;
  pieces: readonly IPiece[] | undefined;
  most: number;
  tabbable: boolean;
  selected: boolean;
  /** Ids of its kernels that are lit, a line each. */
  lit: string;
  onPoint: (line: number | null) => void;
  onSelect: (line: number) => void;
  onOpen: (row: IKernelRow) => void;
  onShowBreak: (id: string) => void;
}

/** Drawn again only where something of it has changed: hovering must not redraw a whole file. */
const LensLine = React.memo((props: ILensLineProps): JSX.Element => {
  const { line, lit, most } = props;
  const { trans } = usePanel();
  const { number } = line;
  const box = React.useRef<HTMLDivElement>(null);
  const litKernels = lit ? lit.split('\n') : [];
  const marked = isMarked(line);
  // Those that are lit come first where there is no room for all.
  const order =
    line.kernels.length > most
      ? [...line.kernels].sort(
          (a, b) =>
            Number(litKernels.includes(b.row.kernel.id)) - Number(litKernels.includes(a.row.kernel.id))
        )
      : line.kernels;
  const shown = order.slice(0, most);
  const hidden = line.kernels.length - shown.length;

  React.useEffect(() => {
    if (props.selected) {
      box.current?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [props.selected]);

  const classes = ['stc-Lens-line'];
  if (litKernels.length > 0) {
    classes.push('stc-mod-lit');
  }
  if (props.selected) {
    classes.push('stc-mod-selected');
  }
  if (line.breaks.length > 0) {
    classes.push('stc-mod-broken');
  }
  return (
    <>
      <div
        ref={box}
        className={classes.join(' ')}
        onMouseEnter={() => props.onPoint(marked ? number : null)}
        onFocus={() => props.onPoint(number)}
        onBlur={() => props.onPoint(null)}
      >
        {marked ? (
          <button
            type="button"
            className="stc-Lens-number"
            tabIndex={props.tabbable ? 0 : -1}
            aria-pressed={props.selected}
            aria-label={trans.__('Line %1: %2', number, said(line, trans))}
            onClick={() => props.onSelect(number)}
          >
            {number}
          </button>
        ) : (
          <span className="stc-Lens-number">{number}</span>
        )}
        <span className="stc-Lens-gutter">
          {shown.map(({ row, ops }) => (
            <button
              key={row.kernel.id}
              type="button"
              tabIndex={-1}
              className="stc-Lens-block"
              title={`${row.label} ${shortName(row.kernel.name)}\n${trans._n(
                '%1 operation of this line',
                '%1 operations of this line',
                ops
              )}`}
              aria-label={trans.__('Kernel %1, %2', row.label, shortName(row.kernel.name))}
              onClick={() => props.onOpen(row)}
            >
              <KernelBlock row={row} lit={litKernels.includes(row.kernel.id)} />
            </button>
          ))}
          {hidden > 0 && (
            <button
              type="button"
              tabIndex={-1}
              className="stc-Lens-more"
              aria-label={trans.__('%1 more kernels of line %2', hidden, number)}
              title={trans.__('Show all %1 kernels of this line', line.kernels.length)}
              onClick={() => props.onSelect(number)}
            >
              +{hidden > 99 ? '99' : hidden}
            </button>
          )}
        </span>
        <code
          className="stc-Lens-code"
          style={hanging(line.text)}
          onClick={marked ? () => props.onSelect(number) : undefined}
        >
          {props.pieces ? <Pieces pieces={dedented(props.pieces)} /> : line.text.trimStart()}
        </code>
        {line.folded.length > 0 && (
          <span
            className="stc-Lens-folded"
            title={trans.__('These operations became nothing: no kernel has to compute them.')}
          >
            {line.kernels.length === 0
              ? trans.__('folded away')
              : trans.__(
                  'folded in %1',
                  [...new Set(line.folded.map(graph => phaseWords(graph.phase, trans)))].join(', ')
                )}
          </span>
        )}
      </div>
      {line.breaks.map(broken => (
        <button
          key={broken.id}
          type="button"
          className="stc-Lens-break"
          title={trans.__('Show in Breaks')}
          onClick={() => props.onShowBreak(broken.id)}
        >
          <span>{trans.__('Breaks the graph:')}</span> <Words text={broken.reason} />
          {broken.count > 1 && <span className="stc-mod-note">{` ×${count(broken.count)}`}</span>}
        </button>
      ))}
    </>
  );
});
LensLine.displayName = 'LensLine';

/** Indentation as padding, so that a long line goes on two characters to the right of where it began. */
function hanging(text: string): React.CSSProperties {
  const indent = text.length - text.trimStart().length;
  return { paddingLeft: `${indent + 2}ch`, textIndent: '-2ch' };
}

/** The pieces without the white space that they begin with. */
function dedented(pieces: readonly IPiece[]): readonly IPiece[] {
  const first = pieces.findIndex(piece => piece.text.trim() !== '');
  return first < 0
    ? []
    : [{ ...pieces[first], text: pieces[first].text.trimStart() }, ...pieces.slice(first + 1)];
}

function said(line: ILensLine, trans: TranslationBundle): string {
  const labels = line.kernels.map(({ row }) => row.label);
  return [
    labels.length > LABELS_SAID ? trans.__('%1 kernels', labels.length) : '',
    labels.length > 0 && labels.length <= LABELS_SAID ? trans.__('kernels %1', labels.join(', ')) : '',
    line.folded.length > 0 ? trans.__('folded away') : '',
    line.breaks.length > 0 ? trans.__('breaks the graph') : ''
  ]
    .filter(Boolean)
    .join('; ');
}
