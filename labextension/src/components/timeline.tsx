/**
 * Events over the steps of a run, a lane for each kind, told apart by shape first and colour second.
 *
 * Events too close to be told apart become one mark with their number. Marks are reached by Tab and the arrow keys.
 */
import React from 'react';

import { count } from '../format';
import { usePanel } from './context';

export type Shape = 'diamond' | 'triangle' | 'octagon';

export interface ILane {
  key: string;
  title: string;
  shape: Shape;
}

export interface IMoment {
  /** Of the event; one event can have many moments. */
  id: string;
  lane: string;
  /** From 0. */
  step: number;
  /** What happened, without the step. */
  name: string;
}

/** Steps from 0, both ends included. */
export interface IStepRange {
  from: number;
  to: number;
}

export interface ICluster {
  lane: string;
  moments: readonly IMoment[];
  /** px from the left of the plot. */
  x: number;
}

export interface ITimelineProps {
  label: string;
  lanes: readonly ILane[];
  moments: readonly IMoment[];
  /** Steps of the run. */
  total: number;
  /** Id of the event that is picked out. */
  selected: string | null;
  range: IStepRange | null;
  /** A mark was chosen. */
  onPick: (moments: readonly IMoment[]) => void;
  /** A stretch of steps was drawn with the pointer; null takes it back. */
  onRange: (range: IStepRange | null) => void;
}

const LANE_PX = 30;
const AXIS_PX = 36;
const TOP_PX = 4;
const EDGE_PX = 12;
/** Marks closer than this are one. */
const NEAR_PX = 15;
/** A pointer that moves less than this has clicked. */
const DRAG_PX = 5;
/** Where all events lie in so small a part of the run, that part is shown first. */
const EARLY = 0.25;
const ROOM = 1.3;
const FEWEST_STEPS = 10;

const SHAPES: Readonly<Record<Shape, string>> = {
  diamond: 'M0-7 7 0 0 7-7 0z',
  triangle: 'M0-6.5 7 6H-7z',
  octagon: 'M-3-7H3L7-3V3L3 7H-3L-7 3V-3z'
};

export function LaneMark({ shape }: { shape: Shape }): JSX.Element {
  return (
    <svg
      className={`stc-Timeline-mark stc-mod-${shape}`}
      viewBox="-8 -8 16 16"
      width="12"
      height="12"
      aria-hidden="true"
    >
      <path d={SHAPES[shape]} />
    </svg>
  );
}

/** The moments of each lane, those that lie within `near` px of a first one together. */
export function clusters(
  moments: readonly IMoment[],
  lanes: readonly ILane[],
  xOf: (step: number) => number,
  near: number = NEAR_PX
): ICluster[] {
  return lanes.flatMap(({ key }) => {
    const found: { lane: string; moments: IMoment[]; x: number }[] = [];
    const own = moments.filter(moment => moment.lane === key).sort((a, b) => a.step - b.step);
    for (const moment of own) {
      const last = found[found.length - 1];
      const x = xOf(moment.step);
      if (last && x - xOf(last.moments[0].step) < near) {
        last.moments.push(moment);
        last.x = (xOf(last.moments[0].step) + x) / 2;
      } else {
        found.push({ lane: key, moments: [moment], x });
      }
    }
    return found;
  });
}

/** Round step numbers from 1 on, for about `most` labels. */
export function ticks(first: number, last: number, most: number): number[] {
  const span = Math.max(1, last - first);
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const size = Math.max(
    1,
    [1, 2, 5, 10].map(factor => factor * power).find(step => step >= rough) ?? 10 * power
  );
  const found = [first];
  for (let at = Math.ceil(first / size) * size; at <= last; at += size) {
    if (at - first >= size * 0.6) {
      found.push(at);
    }
  }
  return found;
}

/** "step 3", "steps 1 to 8", counted from 1. */
function useStepWords(): (moments: readonly IMoment[]) => string {
  const { trans } = usePanel();
  return moments => {
    const steps = moments.map(moment => moment.step + 1);
    const [low, high] = [Math.min(...steps), Math.max(...steps)];
    return low === high
      ? trans.__('step %1', count(low))
      : trans.__('steps %1 to %2', count(low), count(high));
  };
}

export function Timeline(props: ITimelineProps): JSX.Element {
  const { lanes, moments, range } = props;
  const { trans } = usePanel();
  const words = useStepWords();
  const frame = React.useRef<HTMLDivElement>(null);
  const width = usePixels(frame);
  const [everything, setEverything] = React.useState(false);
  const [drag, setDrag] = React.useState<{ from: number; to: number } | null>(null);
  const [active, setActive] = React.useState(0);

  const lastEvent = moments.reduce((last, moment) => Math.max(last, moment.step), 0);
  const total = Math.max(props.total, lastEvent + 1);
  const early = total > 2 * FEWEST_STEPS && lastEvent < total * EARLY;
  const drawn = early && !everything ? Math.max(FEWEST_STEPS, Math.ceil((lastEvent + 1) * ROOM)) : total;

  const inner = Math.max(1, width - 2 * EDGE_PX);
  const xOf = (step: number): number =>
    EDGE_PX + (drawn <= 1 ? inner / 2 : (Math.min(step, drawn - 1) / (drawn - 1)) * inner);
  const stepAt = (x: number): number =>
    Math.min(drawn - 1, Math.max(0, Math.round(((x - EDGE_PX) / inner) * (drawn - 1))));
  const marks = clusters(moments, lanes, xOf).sort((a, b) => a.x - b.x);
  const height = TOP_PX + lanes.length * LANE_PX + AXIS_PX;
  const base = TOP_PX + lanes.length * LANE_PX;

  const atPointer = (event: React.PointerEvent<SVGSVGElement>): number =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  const released = (): void => {
    if (drag === null) {
      return;
    }
    const moved = Math.abs(drag.to - drag.from) >= DRAG_PX;
    const [from, to] = [stepAt(Math.min(drag.from, drag.to)), stepAt(Math.max(drag.from, drag.to))];
    props.onRange(moved ? { from, to } : null);
    setDrag(null);
  };
  const pressed = (event: React.KeyboardEvent<HTMLDivElement>): void => {
    const goal = {
      ArrowRight: active + 1,
      ArrowLeft: active - 1,
      Home: 0,
      End: marks.length - 1
    }[event.key];
    if (goal !== undefined && goal >= 0 && goal < marks.length) {
      event.preventDefault();
      event.stopPropagation();
      setActive(goal);
      event.currentTarget.querySelector<SVGElement>(`[data-mark="${goal}"]`)?.focus();
    } else if (event.key === 'Escape' && range !== null) {
      event.stopPropagation();
      props.onRange(null);
    }
  };
  const band =
    drag && Math.abs(drag.to - drag.from) >= DRAG_PX
      ? [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)]
      : range
        ? [xOf(range.from) - NEAR_PX / 2, xOf(range.to) + NEAR_PX / 2]
        : null;

  return (
    <div className="stc-Timeline" role="group" aria-label={props.label} onKeyDown={pressed}>
      <div className="stc-Timeline-lanes" style={{ paddingTop: TOP_PX, paddingBottom: AXIS_PX }}>
        {lanes.map(lane => (
          <div key={lane.key} style={{ height: LANE_PX }}>
            <LaneMark shape={lane.shape} />
            <span>{lane.title}</span>
          </div>
        ))}
      </div>
      <div ref={frame} className="stc-Timeline-plot">
        <svg
          width={width}
          height={height}
          onPointerDown={event => {
            if (event.button === 0 && !(event.target as Element).closest('[data-mark]')) {
              event.currentTarget.setPointerCapture?.(event.pointerId);
              setDrag({ from: atPointer(event), to: atPointer(event) });
            }
          }}
          onPointerMove={event => drag && setDrag({ ...drag, to: atPointer(event) })}
          onPointerUp={released}
          onPointerCancel={() => setDrag(null)}
        >
          {band && (
            <rect
              className="stc-Timeline-band"
              x={Math.max(0, band[0])}
              y={0}
              width={Math.max(2, Math.min(width, band[1]) - Math.max(0, band[0]))}
              height={base}
            />
          )}
          {lanes.map((lane, index) => (
            <line
              key={lane.key}
              className="stc-Timeline-lane"
              x1={EDGE_PX}
              x2={width - EDGE_PX}
              y1={TOP_PX + (index + 0.5) * LANE_PX}
              y2={TOP_PX + (index + 0.5) * LANE_PX}
            />
          ))}
          <g aria-hidden="true" className="stc-Timeline-axis">
            <line x1={EDGE_PX} x2={width - EDGE_PX} y1={base} y2={base} />
            {ticks(1, drawn, Math.max(1, Math.floor(inner / 60))).map(tick => (
              <g key={tick} transform={`translate(${xOf(tick - 1)},${base})`}>
                <line y2={4} />
                <text y={15} textAnchor="middle">
                  {count(tick)}
                </text>
              </g>
            ))}
            <text x={EDGE_PX + inner / 2} y={base + 30} textAnchor="middle">
              {trans.__('Step')}
            </text>
          </g>
          {marks.map((mark, index) => {
            const lane = lanes.findIndex(({ key }) => key === mark.lane);
            const { shape } = lanes[lane];
            const chosen = mark.moments.some(moment => moment.id === props.selected);
            const names = [...new Set(mark.moments.map(moment => moment.name))];
            const said = trans.__('%1: %2', words(mark.moments), names.slice(0, NAMES_SAID).join('; '));
            const more = names.length > NAMES_SAID ? trans.__(' and %1 more', names.length - NAMES_SAID) : '';
            return (
              <g
                key={`${mark.lane}-${mark.moments[0].step}`}
                data-mark={index}
                role="button"
                aria-label={`${lanes[lane].title}, ${said}${more}`}
                aria-pressed={chosen}
                tabIndex={index === Math.min(active, marks.length - 1) ? 0 : -1}
                className={`stc-Timeline-mark stc-mod-${shape} ${chosen ? 'stc-mod-selected' : ''}`}
                transform={`translate(${mark.x.toFixed(1)},${TOP_PX + (lane + 0.5) * LANE_PX})`}
                onFocus={() => setActive(index)}
                onClick={() => props.onPick(mark.moments)}
                onKeyDown={event => {
                  if (event.key === 'Enter' || event.key === ' ') {
                    event.preventDefault();
                    event.stopPropagation();
                    props.onPick(mark.moments);
                  }
                }}
              >
                <title>{`${said}${more}`}</title>
                <circle className="stc-Timeline-target" r={11} />
                <path d={SHAPES[shape]} />
                {mark.moments.length > 1 && (
                  <text x={9} y={-3}>
                    {mark.moments.length}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
        {early && (
          <button type="button" className="stc-Link" onClick={() => setEverything(!everything)}>
            {everything
              ? trans.__(
                  'Only the first %1 steps',
                  count(Math.max(FEWEST_STEPS, Math.ceil((lastEvent + 1) * ROOM)))
                )
              : trans.__('Nothing after step %1; show all %2 steps', count(lastEvent + 1), count(total))}
          </button>
        )}
      </div>
    </div>
  );
}

const NAMES_SAID = 3;
const ASSUMED_PX = 320;

/** Width of an element; an assumed one until it is known. */
function usePixels(element: React.RefObject<HTMLElement>): number {
  const [pixels, setPixels] = React.useState(ASSUMED_PX);
  React.useLayoutEffect(() => {
    const target = element.current;
    if (!target) {
      return;
    }
    const measure = (): void => {
      if (target.clientWidth > 0) {
        setPixels(target.clientWidth);
      }
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => observer.disconnect();
  }, [element]);
  return pixels;
}
