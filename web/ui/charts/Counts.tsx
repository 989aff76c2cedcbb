import { useRef } from "react";

import { Fold } from "../Layout.tsx";
import { Table } from "../Table.tsx";
import { useWidth } from "../useWidth.ts";
import styles from "./Counts.module.css";

/** A bar: what it is of, and how high it is. */
interface Count {
  words: string;
  /** Stands below it in place of these, where there is room. */
  short?: string;
  value: number;
}

interface CountsProps {
  /** What is counted: "Builds by day". */
  label: string;
  /** What `words` of a bar is: "Day". */
  head: string;
  bars: readonly Count[];
  /** A value that a line is drawn at, with its name. */
  line?: { value: number; words: string } | undefined;
  /** The result in words. */
  caption: string;
}

const height = 132;
const foot = 18;

/** Says which bars are named below the chart: as many as fit, evenly, and none that would be cut off. */
function naming(bars: readonly Count[], width: number): (index: number) => boolean {
  const room = 16 + 7 * Math.max(1, ...bars.map(({ words, short = words }) => short.length));
  const every = Math.max(1, Math.ceil((bars.length * room) / Math.max(1, width)));
  return (index) => index % every === 0 && (index / bars.length) * width + room - 16 <= width;
}

function Drawn({ bars, line, width }: Pick<CountsProps, "bars" | "line"> & { width: number }) {
  const most = Math.max(1, line?.value ?? 0, ...bars.map(({ value }) => value));
  const step = width / Math.max(1, bars.length);
  const isNamed = naming(bars, width);
  const y = (value: number): number => height - foot - (value / most) * (height - foot - 16);
  return (
    <svg width={width} height={height} aria-hidden="true">
      <line className={styles["base"]} x1="0" x2={width} y1={height - foot} y2={height - foot} />
      <text className={styles["words"]} x="0" y="11">
        {most}
      </text>
      {bars.map(({ words, short = words, value }, index) => (
        <g key={words} className={styles["bar"]}>
          <rect className={styles["field"]} x={index * step} y={0} width={step} height={height - foot} />
          <rect
            x={index * step + Math.min(4, step * 0.12)}
            y={y(value)}
            width={Math.max(1, step - 2 * Math.min(4, step * 0.12))}
            height={height - foot - y(value)}
            rx={Math.min(3, step / 4)}
          />
          <title>{`${words}: ${value}`}</title>
          {isNamed(index) ? (
            <text className={styles["words"]} x={index * step + 1} y={height - 4}>
              {short}
            </text>
          ) : null}
        </g>
      ))}
      {line === undefined || line.value === 0 ? null : (
        <>
          <line className={styles["line"]} x1="0" x2={width} y1={y(line.value)} y2={y(line.value)} />
          <text className={styles["words"]} x={width} y={y(line.value) - 4} textAnchor="end">
            {line.words}
          </text>
        </>
      )}
    </svg>
  );
}

/** A chart of bars, at most 400, with what it says in words, and as a table. */
export function Counts({ label, head, bars, line, caption }: CountsProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  return (
    <figure className={styles["chart"]} aria-label={label}>
      <div ref={frame} className={styles["frame"]}>
        {width === 0 ? null : <Drawn bars={bars} line={line} width={width} />}
      </div>
      <figcaption>{caption}</figcaption>
      <Fold title="As a table">
        <Table
          label={label}
          rows={bars}
          rowKey={({ words }) => words}
          columns={[
            { key: "words", head, cell: ({ words }) => words },
            { key: "value", head: "Number", isNumber: true, cell: ({ value }) => value },
          ]}
        />
      </Fold>
    </figure>
  );
}
