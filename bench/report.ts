import { cpus, totalmem } from "node:os";

import type { Figure } from "./measure.ts";
import { ratioOf, type Verdict } from "./scenario.ts";
import type { PageFigure } from "./web/measure.ts";

/** Everything a run found. */
export interface Report {
  figures: Figure[];
  /** Of pages in a browser. */
  pages: PageFigure[];
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
const pageHeading: Row = ["page", "p50 ms", "p95 ms", "requests", "slowest ms", "by hand ms"];
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

function pageRow({ what, p50, p95, requests, requestMs, bare }: PageFigure): Row {
  const slowest = requestMs === undefined ? "" : requestMs.toFixed(0);
  return [what, p50.toFixed(0), p95.toFixed(0), String(requests), slowest, bare.toFixed(0)];
}

function verdictRow({ what, target, measured, met }: Verdict): Row {
  return [what, target, measured, met ? "met" : "MISSED"];
}

/** Describes day and machine: `2026-08-01 with Node.js 20.19.0 on linux x64, 2 cores (…), 8 GB of memory`. */
export function circumstances(): string {
  const [cpu] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  const date = new Date().toISOString().slice(0, 10);
  return (
    `${date} with Node.js ${process.versions.node} on ${process.platform} ${process.arch}, ` +
    `${cpus().length} cores (${cpu?.model.trim() ?? "unknown"}), ${gigabytes} GB of memory`
  );
}

function method({ figures, rounds, secondsEach }: Report): string {
  const how = figures.length === 0 ? "" : `, the middle one of ${rounds} rounds of ${secondsEach} seconds`;
  return `Measured on ${circumstances()}${how}.`;
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

/** Writes a table in Markdown. */
export function markdownTable(heading: Row, rows: Row[]): string {
  const line = (row: Row): string => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = heading.map((_, column) => (column === 0 ? "---" : "--:"));
  return [line(heading), line(rule), ...rows.map(line)].join("\n");
}

/** The tables of a report that have something in them. */
function tables({ verdicts, figures, pages }: Report): { heading: Row; rows: Row[] }[] {
  return [
    { heading: verdictHeading, rows: verdicts.map(verdictRow) },
    { heading: figureHeading, rows: figures.map(figureRow) },
    { heading: pageHeading, rows: pages.map(pageRow) },
  ].filter(({ rows }) => rows.length > 0);
}

/** Writes a report for the terminal, the targets last. */
export function asText(report: Report): string {
  const written = tables(report).map(({ heading, rows }) => plainTable(heading, rows));
  return [method(report), ...written.toReversed(), ...report.remarks].join("\n\n");
}

/** Writes a report as Markdown. */
export function asMarkdown(report: Report): string {
  const written = tables(report).map(({ heading, rows }) => markdownTable(heading, rows));
  return ["# Figures of `npm run bench`", method(report), ...written, ...report.remarks]
    .join("\n\n")
    .concat("\n");
}
