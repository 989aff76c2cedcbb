import { type ReactNode, useRef, useState } from "react";

import { Button } from "../Button.tsx";
import { type Column, Table } from "../Table.tsx";
import { useWidth } from "../useWidth.ts";
import { fillOf, Legend, Patterns, type Series, usePatterns } from "./looks.tsx";
import styles from "./StackedBars.module.css";

/** A bar: how much it has of each part, in their order. */
export interface Bar {
  name: string;
  values: readonly number[];
}

interface StackedBarsProps {
  /** What is shown, for the table. */
  label: string;
  /** What the bars are named by: "Day". */
  unit: string;
  series: readonly Series[];
  bars: readonly Bar[];
  /** What the picture says, in words. */
  caption: ReactNode;
  /** Writes a part of a bar. */
  format: (value: number, whole: number) => string;
}

const height = 72;
const gap = 3;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** One bar, its parts from the bottom up. */
function StackedBar({ bar, series, id }: { bar: Bar; series: readonly Series[]; id: string }) {
  const whole = sum(bar.values);
  let below = 0;
  return series.map(({ words, look }, at) => {
    const part = whole === 0 ? 0 : ((bar.values[at] ?? 0) / whole) * height;
    below += part;
    if (part === 0) return null;
    return (
      <rect
        key={words}
        y={height - below}
        // What is there at all can be seen.
        height={Math.max(1, part)}
        width="100%"
        fill={fillOf(id, look)}
      />
    );
  });
}

function Picture({ bars, series, width }: Pick<StackedBarsProps, "bars" | "series"> & { width: number }) {
  const id = usePatterns();
  const step = width / Math.max(1, bars.length);
  return (
    <svg width={width} height={height} aria-hidden="true">
      <Patterns id={id} />
      {bars.map((bar, at) => (
        <svg key={bar.name} x={at * step} width={Math.max(1, step - gap)} height={height}>
          <rect y={height - 2} width="100%" height={2} className={styles["ground"]} />
          <StackedBar bar={bar} series={series} id={id} />
        </svg>
      ))}
    </svg>
  );
}

function AsTable({ label, unit, series, bars, format }: Omit<StackedBarsProps, "caption">) {
  const columns: Column<Bar>[] = [
    { key: "name", head: unit, cell: ({ name }) => name },
    ...series.map(({ words }, at) => ({
      key: words,
      head: words,
      isNumber: true,
      cell: ({ values }: Bar) => format(values[at] ?? 0, sum(values)),
    })),
  ];
  return <Table label={label} columns={columns} rows={bars.toReversed()} rowKey={({ name }) => name} />;
}

/** Bars that show what a whole is made of, side by side in time. A caption says the same in words, a table in numbers. */
export function StackedBars({ caption, ...rest }: StackedBarsProps) {
  const { series, bars, format } = rest;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [pointed, point] = useState<Bar>();
  const [isTable, showTable] = useState(false);
  const said = (bar: Bar): string =>
    [
      bar.name,
      ...series.flatMap(({ words }, at) => {
        const value = bar.values[at] ?? 0;
        return value === 0 ? [] : [`${words.toLowerCase()} ${format(value, sum(bar.values))}`];
      }),
    ].join(" · ");
  return (
    <figure className={styles["chart"]}>
      <div
        ref={frame}
        className={styles["frame"]}
        onPointerMove={({ clientX, currentTarget }) => {
          const { left, width: all } = currentTarget.getBoundingClientRect();
          point(bars[Math.floor(((clientX - left) / all) * bars.length)]);
        }}
        onPointerLeave={() => point(undefined)}
      >
        {width === 0 ? null : <Picture bars={bars} series={series} width={width} />}
      </div>
      <div className={styles["ends"]} aria-hidden="true">
        <span>{bars[0]?.name}</span>
        <span>{bars.at(-1)?.name}</span>
      </div>
      <figcaption>
        <span className={styles["words"]}>{pointed === undefined ? caption : said(pointed)}</span>
        <Legend entries={series.map(({ look, words }) => [look, words])} />
        <Button look="quiet" aria-expanded={isTable} onClick={() => showTable(!isTable)} data-no-print>
          {isTable ? "Hide the table" : "As a table"}
        </Button>
      </figcaption>
      {isTable ? <AsTable {...rest} /> : null}
    </figure>
  );
}
