import { cpus, totalmem } from "node:os";

import type { Figure } from "./measure.ts";
import { ratioOf, type Verdict } from "./scenario.ts";

/** Everything a run found. */
export interface Report {
  figures: Figure[];
  verdicts: Verdict[];
  remarks: string[];
  secondsEach: number;
  rounds: number;
}

type Row = string[];

const figureHeading: Row = [
  "scenario",
  "connections",
  "requests/s",
  "p50 ms",
  "p99 ms",
  "bare/s",
  "of bare",
  "Node µs",
  "PostgreSQL µs",
  "bare µs",
];
const verdictHeading: Row = ["target", "wanted", "measured", ""];

function figureRow(figure: Figure): Row {
  const { scenario, connections, own, bare } = figure;
  return [
    scenario,
    String(connections),
    Math.round(own.throughput).toLocaleString("en"),
    own.p50.toFixed(2),
    own.p99.toFixed(2),
    bare === undefined ? "" : Math.round(bare.throughput).toLocaleString("en"),
    bare === undefined ? "" : ratioOf(figure).toFixed(2),
    Math.round(own.cost.node).toLocaleString("en"),
    Math.round(own.cost.postgres).toLocaleString("en"),
    bare === undefined ? "" : Math.round(bare.cost.node).toLocaleString("en"),
  ];
}

function verdictRow({ what, target, measured, met }: Verdict): Row {
  return [what, target, measured, met ? "met" : "MISSED"];
}

/** The machine and the moment, one sentence. */
function circumstances(report: Report): string {
  const [cpu] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  const date = new Date().toISOString().slice(0, 10);
  return (
    `Measured on ${date} with Node.js ${process.versions.node} on ${process.platform} ${process.arch}, ` +
    `${cpus().length} cores (${cpu?.model.trim() ?? "unknown"}), ${gigabytes} GB of memory, the middle one of ${report.rounds} rounds of ${report.secondsEach} seconds.`
  );
}

function plainTable(heading: Row, rows: Row[]): string {
  const all = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: Row): string =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ");
  return all.map(line).join("\n");
}

function markdownTable(heading: Row, rows: Row[]): string {
  const line = (row: Row): string => `| ${row.join(" | ")} |`;
  const rule = heading.map((_, column) => (column === 0 ? "---" : "--:"));
  return [line(heading), line(rule), ...rows.map(line)].join("\n");
}

/** For the terminal. */
export function asText(report: Report): string {
  return [
    circumstances(report),
    plainTable(figureHeading, report.figures.map(figureRow)),
    plainTable(verdictHeading, report.verdicts.map(verdictRow)),
    ...report.remarks,
  ].join("\n\n");
}

/** For a document. */
export function asMarkdown(report: Report): string {
  return [
    "# Figures of `npm run bench`",
    circumstances(report),
    markdownTable(verdictHeading, report.verdicts.map(verdictRow)),
    markdownTable(figureHeading, report.figures.map(figureRow)),
    ...report.remarks,
  ]
    .join("\n\n")
    .concat("\n");
}
