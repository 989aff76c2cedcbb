import { type ReactNode, useRef, useState } from "react";

import { labelled, niceTop, stack } from "../../domain/charts.ts";
import { numberWords } from "../../domain/numbers.ts";
import { Button } from "../Button.tsx";
import { Table } from "../Table.tsx";
import { useWidth } from "../useWidth.ts";
import styles from "./charts.module.css";
import { fillOf, Legend, Patterns, type Series, usePatterns } from "./looks.tsx";

/** A bar with a value for each series. */
interface Bar {
  /** Short, as it stands below the bar. */
  name: string;
  values: readonly number[];
  /** What is written for each value, where that is not the number. */
  written?: readonly string[];
}

interface BarsProps {
  label: string;
  /** What the chart says, in words. */
  caption: ReactNode;
  /** What each bar stands for: "Day". */
  unit: string;
  series: readonly Series[];
  bars: readonly Bar[];
}

const size = { height: 150, foot: 20, side: 30 };

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function Picture({ bars, series, width }: Pick<BarsProps, "bars" | "series"> & { width: number }) {
  const id = usePatterns();
  const top = niceTop(Math.max(...bars.map(({ values }) => sum(values)), 0));
  const room = width - size.side;
  const step = room / Math.max(1, bars.length);
  const wide = Math.max(1, Math.min(40, step - 2));
  const xOf = (index: number): number => size.side + index * step + (step - wide) / 2;
  return (
    <svg width={width} height={size.height + size.foot + 8} aria-hidden="true">
      <Patterns id={id} />
      <g transform="translate(0 8)">
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line x1={size.side} x2={width} y1={size.height * share} y2={size.height * share} />
            <text x={size.side - 8} y={size.height * share + 4} textAnchor="end">
              {share === 0.5 && top % 2 === 1 ? "" : numberWords(top * (1 - share))}
            </text>
          </g>
        ))}
        {bars.map(({ name, values, written }, index) => (
          <g key={name}>
            <title>{`${name}: ${series.map(({ words }, at) => written?.[at] ?? `${values[at] ?? 0} ${words}`).join(", ")}`}</title>
            <rect x={xOf(index)} y={0} width={wide} height={size.height} fill="transparent" />
            {stack(values, top, size.height).map((part) => (
              <rect
                key={part.series}
                fill={fillOf(id, series[part.series]?.look ?? "other")}
                x={xOf(index)}
                y={part.y}
                width={wide}
                height={part.height}
              />
            ))}
          </g>
        ))}
        {labelled(bars.length, room, 62).map((index) => (
          <text
            key={index}
            x={Math.min(xOf(index) + wide / 2, width - 18)}
            y={size.height + 16}
            textAnchor="middle"
          >
            {bars[index]?.name}
          </text>
        ))}
      </g>
    </svg>
  );
}

function Numbers({ label, unit, series, bars }: BarsProps) {
  return (
    <Table
      label={label}
      rows={bars}
      rowKey={({ name }) => name}
      columns={[
        { key: "name", head: unit, cell: ({ name }) => name },
        ...series.map(({ words }, at) => ({
          key: words,
          head: words,
          isNumber: true,
          cell: ({ values, written }: Bar) => written?.[at] ?? values[at] ?? 0,
        })),
      ]}
    />
  );
}

/** Bars that are stacked by series, with what they say in words; the same as a table when wanted. */
export function Bars(props: BarsProps) {
  const { label, caption, series, bars } = props;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [isTable, setTable] = useState(false);
  return (
    <figure className={styles["chart"]} aria-label={label}>
      <figcaption>
        <span>{caption}</span>
        <Button look="quiet" onClick={() => setTable(!isTable)}>
          {isTable ? "Show as a chart" : "Show as a table"}
        </Button>
      </figcaption>
      {isTable ? (
        <Numbers {...props} />
      ) : (
        <>
          <div ref={frame} className={styles["picture"]}>
            {width === 0 ? null : <Picture bars={bars} series={series} width={width} />}
          </div>
          <Legend entries={series.map(({ look, words }) => [look, words])} />
        </>
      )}
    </figure>
  );
}
