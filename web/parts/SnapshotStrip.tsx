import { type KeyboardEvent, type PointerEvent, type ReactNode, useMemo, useRef, useState } from "react";

import { percent } from "../domain/compliance-history.ts";
import {
  barAt,
  barOfSnapshot,
  handleAt,
  layOutTimeline,
  shareOfTime,
  type Timeline,
  type TimelineBar,
  type TimelineGap,
  type TimelineSnapshot,
} from "../domain/timeline.ts";
import { exactDuration, exactTime } from "../domain/times.ts";
import { type Verdict, verdictWords } from "../domain/verdict.ts";
import { fillOf, Legend, type Look, Patterns, usePatterns } from "../ui/charts/looks.tsx";
import { useNow } from "../ui/Time.tsx";
import { useWidth } from "../ui/useWidth.ts";
import styles from "./SnapshotStrip.module.css";

/** A place on the strip that can be moved: by arrow keys, Enter then opens it. */
export interface StripHandle {
  /** What it chooses: "Snapshot", "Before". */
  label: string;
  /** Number of the snapshot it is at. */
  index: number;
  /** Called when another snapshot is chosen: by a click, or by Enter; while it is moved, too, if `isImmediate`. */
  onChoose: (index: number) => void;
  isImmediate?: boolean;
}

interface SnapshotStripProps {
  snapshots: readonly TimelineSnapshot[];
  gaps: readonly TimelineGap[];
  handles: readonly StripHandle[];
  /** Says more about a snapshot than time and verdict. */
  describe?: (index: number) => string | undefined;
}

const height = 44;

const lookOf = (verdict: Verdict): Look =>
  verdict === "compliant" ? "good" : verdict === "non-compliant" ? "bad" : "other";

const moment = (at: number): string => exactTime(at).slice(0, 16);

/** Says what a bar is: number, verdict and time. */
function barWords({ first, last, verdict, from, to }: TimelineBar): string {
  const which = first === last ? `Snapshot ${first}` : `Snapshots ${first} to ${last}`;
  return `${which} · ${verdictWords[verdict]} · ${moment(from)}, for ${exactDuration(to - from)}`;
}

function summaryWords(timeline: Timeline, silences: number): string {
  const { bars, from } = timeline;
  if (bars.length === 0) return "Nothing was reported yet";
  const share = percent(shareOfTime(timeline, "compliant"));
  const silent =
    silences === 0 ? "" : `; its reporter was silent ${silences === 1 ? "once" : `${silences} times`}`;
  return `Since ${moment(from)}: compliant for ${share} of the time${silent}`;
}

function Picture({
  timeline,
  width,
  shown,
}: {
  timeline: Timeline;
  width: number;
  shown: TimelineBar | undefined;
}) {
  const id = usePatterns();
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <Patterns id={id} />
      {timeline.bars.map((bar) => (
        <rect
          key={bar.first}
          x={bar.x}
          y={bar === shown ? 3 : 7}
          width={Math.max(1, bar.width - (bar.width > 3 ? 1 : 0))}
          height={bar === shown ? height - 6 : height - 14}
          rx={bar.width > 8 ? 2 : 0}
          fill={fillOf(id, lookOf(bar.verdict))}
        />
      ))}
      {timeline.silences.map(({ x, width: length }) => (
        <rect
          key={x}
          x={x}
          y={7}
          width={Math.max(2, length)}
          height={height - 14}
          fill={fillOf(id, "silent")}
        />
      ))}
      {timeline.bars
        .filter(({ policies_changed }) => policies_changed)
        .map(({ x, first }) => (
          <path key={first} d={`M${x} 0h7l-3.5 5.5z`} className={styles["mark"]} />
        ))}
    </svg>
  );
}

interface HandleProps {
  handle: StripHandle;
  /** Where it is dragged to. */
  dragged: TimelineBar | undefined;
  bars: readonly TimelineBar[];
  onPreview: (bar: TimelineBar | undefined) => void;
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };

/** Finds where a key leads from a bar; undefined for keys that lead nowhere. */
function placeAfterKey(key: string, at: number, count: number): number | undefined {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = steps[key];
  return step === undefined ? undefined : Math.min(count - 1, Math.max(0, at + step));
}

function Handle({ handle, dragged, bars, onPreview }: HandleProps) {
  const { label, index, onChoose, isImmediate } = handle;
  const [moved, setMoved] = useState<number | undefined>();
  const here = dragged ?? barOfSnapshot(bars, moved ?? index);
  if (here === undefined) return null;
  const move = (event: KeyboardEvent): void => {
    if (event.key === "Enter") onChoose(here.last);
    if (event.key === "Escape") setMoved(undefined);
    const place = placeAfterKey(event.key, bars.indexOf(here), bars.length);
    const bar = place === undefined ? undefined : bars[place];
    if (bar === undefined) return;
    event.preventDefault();
    onPreview(bar);
    if (isImmediate === true) onChoose(bar.last);
    else setMoved(bar.last);
  };
  return (
    // A field for a range cannot be as wide as the bar it stands for.
    <div
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={bars[0]?.first ?? 0}
      aria-valuemax={bars.at(-1)?.last ?? 0}
      aria-valuenow={moved ?? index}
      aria-valuetext={barWords(here)}
      className={styles["handle"]}
      style={{ left: here.x, width: Math.max(8, here.width) }}
      onKeyDown={move}
      onFocus={() => onPreview(here)}
      onBlur={() => {
        setMoved(undefined);
        onPreview(undefined);
      }}
    >
      <span>{handle.label.slice(0, 1)}</span>
    </div>
  );
}

/** What takes a handle from one bar to another by pointer. */
function useDrag(
  handles: readonly StripHandle[],
  bars: readonly TimelineBar[],
  onPreview: (bar: TimelineBar | undefined) => void,
) {
  const [dragged, drag] = useState<{ number: number; bar: TimelineBar } | undefined>();
  const xOf = (event: PointerEvent): number =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  const place = ({ index }: StripHandle): number | undefined => {
    const bar = barOfSnapshot(bars, index);
    return bar === undefined ? undefined : bar.x + bar.width / 2;
  };
  return {
    dragged,
    events: {
      onPointerDown: (event: PointerEvent) => {
        const bar = barAt(bars, xOf(event));
        const number = handleAt(handles.map(place), xOf(event));
        if (event.button !== 0 || bar === undefined || number === -1) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        drag({ number, bar });
      },
      onPointerMove: (event: PointerEvent) => {
        const bar = barAt(bars, xOf(event));
        onPreview(bar);
        if (bar !== undefined && dragged !== undefined) drag({ ...dragged, bar });
      },
      onPointerUp: () => {
        if (dragged !== undefined) handles[dragged.number]?.onChoose(dragged.bar.last);
        drag(undefined);
      },
      onPointerCancel: () => drag(undefined),
      onPointerLeave: () => onPreview(undefined),
    },
  };
}

/** The snapshots of an environment in time: as wide as they lasted, coloured and patterned by verdict, hatched where nothing was reported. */
export function SnapshotStrip({ snapshots, gaps, handles, describe }: SnapshotStripProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const now = useNow();
  const [pointed, point] = useState<TimelineBar | undefined>();
  const timeline = useMemo(
    () => layOutTimeline(snapshots, gaps, { width: Math.max(1, width), now }),
    [snapshots, gaps, width, now],
  );
  const { bars, silences } = timeline;
  const { dragged, events } = useDrag(handles, bars, point);
  const shown = pointed ?? barOfSnapshot(bars, handles[0]?.index ?? 0);
  const more = pointed === undefined ? undefined : describe?.(pointed.last);
  return (
    <figure className={styles["strip"]}>
      <div ref={frame} className={styles["frame"]} {...events}>
        {width === 0 ? null : <Picture timeline={timeline} width={width} shown={shown} />}
        {handles.map((handle, number) => (
          <Handle
            key={handle.label}
            handle={handle}
            dragged={dragged?.number === number ? dragged.bar : undefined}
            bars={bars}
            onPreview={point}
          />
        ))}
      </div>
      <figcaption>
        <span>
          {pointed === undefined
            ? summaryWords(timeline, silences.length)
            : `${barWords(pointed)}${more === undefined ? "" : ` · ${more}`}`}
        </span>
        <Legend entries={legendOf(timeline)} />
      </figcaption>
    </figure>
  );
}

function legendOf({ bars, silences }: Timeline): [Look | "mark", ReactNode][] {
  const entries: [Look | "mark", ReactNode][] = [];
  for (const verdict of ["compliant", "non-compliant", "unknown"] as const)
    if (bars.some((bar) => bar.verdict === verdict)) entries.push([lookOf(verdict), verdictWords[verdict]]);
  if (silences.length > 0) entries.push(["silent", "Silent"]);
  if (bars.some(({ policies_changed }) => policies_changed)) entries.push(["mark", "Policies changed"]);
  return entries;
}
