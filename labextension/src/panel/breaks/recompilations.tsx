/** What was compiled again: the guard that failed, with its value before and after. */
import React from 'react';

import { LocationChip } from '../../components/chip';
import { usePanel } from '../../components/context';
import { Figure } from '../../components/number';
import { IColumn } from '../../components/columns';
import { Table, useTableState } from '../../components/table';
import { count, UNKNOWN } from '../../format';
import { Finding, Recompilation } from '../../records';
import { NextStep } from './cards';
import { changeWords } from './events';

export interface IRecompilationTableProps {
  rows: readonly Recompilation[];
  findings: ReadonlyMap<string, Finding>;
  width: 'narrow' | 'wide';
  selected: string | null;
  onSelect: (id: string | null) => void;
}

const idOf = (row: Recompilation): string => row.id;
const stepOf = ({ step }: Recompilation): string => (step === null ? UNKNOWN : count(step + 1));

export function RecompilationTable(props: IRecompilationTableProps): JSX.Element {
  const { rows, findings, width, selected, onSelect } = props;
  const { trans } = usePanel();
  const [state, setState] = useTableState();
  const wide = width === 'wide';

  // Picked out elsewhere, as in the timeline: its row unfolds and comes into sight.
  const here = selected !== null && rows.some(row => row.id === selected);
  React.useEffect(() => {
    if (here && selected !== null) {
      setState(old => ({ ...old, active: selected, unfolded: new Set(old.unfolded).add(selected) }));
    }
  }, [here, selected, setState]);

  const columns = React.useMemo((): IColumn<Recompilation>[] => {
    const guard: IColumn<Recompilation> = {
      key: 'guard',
      title: wide ? trans.__('Guard that failed') : trans.__('Guard'),
      hint: trans.__('The condition that did not hold any more'),
      width: wide ? 7 : 5,
      grow: 1.4,
      render: row => (
        <code className="stc-Guard" title={row.guard}>
          {row.guard}
        </code>
      ),
      value: row => row.guard
    };
    const change: IColumn<Recompilation> = {
      key: 'change',
      title: wide ? trans.__('Before → after') : trans.__('Change'),
      hint: trans.__('Its value before and after'),
      width: wide ? 6 : 4.5,
      grow: 1,
      render: row => (
        <code className="stc-Guard" title={changeWords(row) ?? undefined}>
          {changeWords(row) ?? trans.__('not known')}
        </code>
      ),
      value: row => row.before
    };
    const step: IColumn<Recompilation> = {
      key: 'step',
      title: trans.__('Step'),
      width: 3.8,
      numeric: true,
      render: stepOf,
      value: row => row.step
    };
    return wide
      ? [
          guard,
          change,
          {
            key: 'function',
            optional: 2,
            title: trans.__('Function'),
            width: 7,
            grow: 1,
            render: row => (
              <code className="stc-Guard" title={row.function}>
                {row.function}
              </code>
            ),
            value: row => row.function
          },
          {
            key: 'line',
            title: trans.__('Line'),
            width: 7.5,
            render: row =>
              row.location ? <LocationChip location={row.location} tabbable={false} /> : UNKNOWN,
            value: row => (row.location ? `${row.location.file} ${row.location.line}` : null)
          },
          {
            key: 'call',
            optional: 1,
            title: trans.__('Call'),
            width: 4,
            numeric: true,
            render: row => <Figure text={count(row.call)} name="compile.recompilations.call" />,
            value: row => row.call
          },
          step
        ]
      : [guard, change, step];
  }, [trans, wide]);
  const nameOf = React.useCallback((row: Recompilation) => row.guard, []);
  const details = React.useCallback(
    (row: Recompilation) => <Rest row={row} finding={findings.get(row.id) ?? null} />,
    [findings]
  );
  return (
    <Table<Recompilation>
      label={trans.__('Recompilations')}
      rows={rows}
      idOf={idOf}
      nameOf={nameOf}
      columns={columns}
      state={state}
      onState={setState}
      selected={selected}
      click="unfold"
      onOpen={row => onSelect(row.id === selected ? null : row.id)}
      details={details}
    />
  );
}

function Rest({ row, finding }: { row: Recompilation; finding: Finding | null }): JSX.Element {
  const { trans } = usePanel();
  const change = changeWords(row);
  return (
    <>
      <dl className="stc-Facts">
        <dt>{trans.__('Guard')}</dt>
        <dd>
          <code>{row.guard}</code>
        </dd>
        {change !== null && (
          <>
            <dt>{trans.__('Value')}</dt>
            <dd>
              {row.source && <code>{row.source}: </code>}
              <code>{change}</code>
              {row.dimension !== null && ` ${trans.__('(dimension %1)', row.dimension)}`}
            </dd>
          </>
        )}
        <dt>{trans.__('Function')}</dt>
        <dd>
          <code>{row.function}</code> {row.location && <LocationChip location={row.location} />}
        </dd>
        <dt>{trans.__('When')}</dt>
        <dd>
          {row.step === null ? trans.__('step not known') : trans.__('step %1', count(row.step + 1))}
          {row.call !== null && `, ${trans.__('call %1', count(row.call))}`}
        </dd>
        <dt>{trans.__("torch's words")}</dt>
        <dd>
          <code>{row.reason}</code>
        </dd>
      </dl>
      <NextStep finding={finding} />
    </>
  );
}
