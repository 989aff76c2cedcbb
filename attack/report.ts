import { circumstances, markdownTable } from "../bench/report.ts";
import type { Endured } from "./durability/index.ts";
import type { Outcome } from "./judge.ts";
import type { Seen } from "./probe.ts";

/** Everything a run found. */
export interface Report {
  /** What the probe measured at rest; undefined when no shape was run. */
  rest: Seen | undefined;
  outcomes: Outcome[];
  endured: Endured[];
}

function count(values: Record<string, number>): string {
  return Object.entries(values)
    .map(([name, times]) => `${name}×${times}`)
    .join(" ");
}

function megabytes(value: number | undefined): string {
  return value === undefined ? "?" : Math.round(value).toLocaleString("en");
}

/** Says whether all promises were kept. */
export function isKept({ outcomes, endured }: Report): boolean {
  return [...outcomes, ...endured].every(({ broken }) => broken.length === 0);
}

/** Writes how long callers wait while nothing happens. */
export function restText(rest: Seen): string {
  return (
    `At rest a probe takes ${rest.p50.toFixed(1)} ms (p50), ${rest.p99.toFixed(1)} ms (p99), ` +
    `${rest.worst.toFixed(0)} ms at worst; the bare server ${rest.machine.toFixed(0)} ms at worst.`
  );
}

const heading = [
  "shape",
  "s",
  "probe p99 ms",
  "worst ms",
  "own ms: /live, list",
  "held ms",
  "bare ms",
  "Node MB: before, peak, after",
  "PostgreSQL MB",
  "answers",
  "writes kept",
  "",
];

function row(outcome: Outcome): string[] {
  const { seen, before, peak, after, kept, tally, broken } = outcome;
  const memory = (part: "node" | "postgres"): string =>
    [before, peak, after].map((one) => megabytes(one[part])).join(" / ");
  const statuses = [count(tally.statuses), count(tally.broken), ...outcome.notes].filter(
    (text) => text !== "",
  );
  return [
    `${outcome.name}: ${outcome.what}`,
    outcome.seconds.toFixed(0),
    seen.p99.toFixed(0),
    seen.worst.toFixed(0),
    `${seen.own.live.toFixed(0)} / ${seen.own.list.toFixed(0)}`,
    outcome.heldMs?.toFixed(0) ?? "?",
    seen.machine.toFixed(0),
    memory("node"),
    memory("postgres"),
    statuses.join("; "),
    `${kept.acknowledged - kept.lost.length - kept.changed.length} of ${kept.acknowledged}`,
    broken.length === 0 ? "kept" : `BROKEN: ${broken.join("; ")}`,
  ];
}

/** Writes the outcomes of shapes as a table. */
function shapesTable(outcomes: Outcome[]): string {
  return markdownTable(heading, outcomes.map(row));
}

/** Writes the outcome of one shape as a line for the terminal. */
export function lineOf(outcome: Outcome): string {
  const [, seconds, p99, worst, own, held, bare, node, postgres, answers, kept, verdict] = row(outcome);
  return `${outcome.name.padEnd(18)} ${seconds} s, probe p99 ${p99} worst ${worst} own ${own} held ${held} bare ${bare} ms, Node ${node}, PostgreSQL ${postgres} MB, ${kept} kept [${answers}] ${verdict}`;
}

const enduredHeading = [
  "hardship",
  "cycles",
  "writes acknowledged",
  "lost",
  "changed",
  "gaps in numbers",
  "to ready s: middle, worst",
  "",
  "",
];

function enduredRow(one: Endured): string[] {
  const sorted = one.readyMs.toSorted((a, b) => a - b);
  const seconds = (value: number | undefined): string =>
    value === undefined ? "" : (value / 1000).toFixed(2);
  const ready = `${seconds(sorted[Math.floor(sorted.length / 2)])} / ${seconds(sorted.at(-1))}`;
  if (one.skipped !== undefined) return [one.what, "", "", "", "", "", "", "", `skipped: ${one.skipped}`];
  return [
    one.what,
    String(one.cycles),
    one.acknowledged.toLocaleString("en"),
    String(one.lost.length),
    String(one.changed.length),
    String(one.gaps),
    ready,
    one.notes.join("; "),
    one.broken.length === 0 ? "kept" : `BROKEN: ${one.broken.join("; ")}`,
  ];
}

/** Writes the outcomes of hardships as a table. */
function enduredTable(endured: Endured[]): string {
  return markdownTable(enduredHeading, endured.map(enduredRow));
}

/** Writes the outcome of one hardship as a line for the terminal. */
export function enduredLine(one: Endured): string {
  const [, cycles, acknowledged, lost, changed, gaps, ready, notes, verdict] = enduredRow(one);
  if (one.skipped !== undefined) return `${one.name.padEnd(18)} ${verdict}`;
  return `${one.name.padEnd(18)} ${cycles} cycles, ${acknowledged} writes, ${lost} lost, ${changed} changed, ${gaps} gaps, to ready ${ready} s [${notes}] ${verdict}`;
}

/** Writes a report as Markdown. */
export function asMarkdown(report: Report): string {
  return [
    `Run on ${circumstances()}.`,
    ...(report.rest === undefined ? [] : [restText(report.rest)]),
    ...(report.outcomes.length === 0 ? [] : [shapesTable(report.outcomes)]),
    ...(report.endured.length === 0 ? [] : [enduredTable(report.endured)]),
  ].join("\n\n");
}
