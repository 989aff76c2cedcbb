import { type Verdict, verdictOfArtifact } from "./verdict.ts";

/**
 * Up to so many artifacts a snapshot is read whole, and filtered and sorted where it is shown; the server filters and sorts larger
 * ones, and tells them page by page.
 */
export const mostHeld = 1000;

/** What lists of running artifacts need to know of one. */
export interface SnapshotRow {
  name: string;
  fingerprint: string;
  compliant: boolean | null;
  allow_listed: boolean;
  flow_name: string | null;
  git_commit: string | null;
  /** Start of the oldest instance, Unix seconds; undefined when nothing runs. */
  started_at: number | undefined;
  instances: number;
  annotation: { type: string; was: number; now: number };
}

/** Orders that a reader may choose; the first is the usual one. */
export const rowSorts = ["verdict", "name", "since", "instances"] as const;
export type RowSort = (typeof rowSorts)[number];

export const rowVerdicts = [
  "compliant",
  "non-compliant",
  "unknown",
  "exempt",
] as const satisfies readonly Verdict[];
export type RowVerdict = (typeof rowVerdicts)[number];

/** Whether any flow knows where an artifact comes from. */
export const provenances = ["known", "none"] as const;
export type Provenance = (typeof provenances)[number];

/** What may have become of an artifact that runs, with the words of the API for it. */
export const rowChanges = {
  started: ["started-compliant", "started-non-compliant", "started-unknown"],
  verdict: ["became-compliant", "became-non-compliant"],
  changed: ["changed", "updated-provenance"],
  unchanged: ["unchanged"],
} as const;
export type RowChange = keyof typeof rowChanges;
export const rowChangeNames = ["started", "verdict", "changed", "unchanged"] as const satisfies RowChange[];

/** What a reader wants to see of a snapshot; what is undefined does not matter. */
export interface RowFilter {
  text?: string | undefined;
  verdict?: Verdict | undefined;
  provenance?: Provenance | undefined;
  change?: RowChange | undefined;
}

/** Parts what runs from what exited in this very snapshot. */
export function partExited<Row extends SnapshotRow>(rows: readonly Row[]): { running: Row[]; exited: Row[] } {
  return {
    running: rows.filter(({ annotation }) => annotation.type !== "exited"),
    exited: rows.filter(({ annotation }) => annotation.type === "exited"),
  };
}

/** Reads the verdict of a row. */
export function verdictOfRow({ compliant, allow_listed }: SnapshotRow): Verdict {
  return verdictOfArtifact(compliant, allow_listed);
}

function provenanceOf({ flow_name }: SnapshotRow): Provenance {
  return flow_name === null ? "none" : "known";
}

function changeKind({ annotation: { type } }: SnapshotRow): RowChange | undefined {
  return rowChangeNames.find((name) => rowChanges[name].some((word) => word === type));
}

function matches(row: SnapshotRow, words: readonly string[]): boolean {
  const where = [row.name, row.fingerprint, row.flow_name, row.git_commit].join("\n").toLowerCase();
  return words.every((word) => where.includes(word));
}

/** Keeps the rows that have all words of a text, in name, fingerprint, flow or commit, and are as the filter says. */
export function filterRows<Row extends SnapshotRow>(
  rows: readonly Row[],
  { text = "", verdict, provenance, change }: RowFilter,
): Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(
    (row) =>
      (verdict === undefined || verdictOfRow(row) === verdict) &&
      (provenance === undefined || provenanceOf(row) === provenance) &&
      (change === undefined || changeKind(row) === change) &&
      matches(row, words),
  );
}

const ranks: Readonly<Partial<Record<Verdict, number>>> = { "non-compliant": 0, unknown: 1, exempt: 2 };

const orders: Readonly<Record<RowSort, (a: SnapshotRow, b: SnapshotRow) => number>> = {
  verdict: (a, b) => (ranks[verdictOfRow(a)] ?? 3) - (ranks[verdictOfRow(b)] ?? 3),
  name: (a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)),
  since: (a, b) => (a.started_at ?? 0) - (b.started_at ?? 0),
  instances: (a, b) => a.instances - b.instances,
};

/** Sorts rows; equal ones by name, and then as they came. */
export function sortRows<Row extends SnapshotRow>(
  rows: readonly Row[],
  sort: RowSort,
  direction: "asc" | "desc",
): Row[] {
  const sign = direction === "asc" ? 1 : -1;
  return rows.toSorted((a, b) => sign * orders[sort](a, b) || orders.name(a, b));
}

/** How many of the artifacts that run there are of each kind. */
export interface RowCounts {
  verdict: Readonly<Partial<Record<RowVerdict, number>>>;
  provenance: Readonly<Record<Provenance, number>>;
  change: Readonly<Record<RowChange, number>>;
}

/** Counts rows by verdict, provenance, and what became of them. */
export function countRows(rows: readonly SnapshotRow[]): RowCounts {
  const verdict = { compliant: 0, "non-compliant": 0, unknown: 0, exempt: 0 };
  const provenance = { known: 0, none: 0 };
  const change = { started: 0, verdict: 0, changed: 0, unchanged: 0 };
  for (const row of rows) {
    const own = rowVerdicts.find((one) => one === verdictOfRow(row));
    if (own !== undefined) verdict[own] += 1;
    provenance[provenanceOf(row)] += 1;
    const kind = changeKind(row);
    if (kind !== undefined) change[kind] += 1;
  }
  return { verdict, provenance, change };
}

const changeWords: Readonly<Record<string, string>> = {
  "updated-provenance": "provenance updated",
  "became-compliant": "became compliant",
  "became-non-compliant": "became non-compliant",
  exited: "exited",
};

/** Says what the snapshot changed about an artifact; undefined for nothing. Any word of the API's is understood. */
export function changeOf({ type, was, now }: SnapshotRow["annotation"]): string | undefined {
  if (type === "unchanged") return undefined;
  if (type.startsWith("started")) return "started";
  if (type === "changed") return `${was} → ${now} instances`;
  return changeWords[type] ?? type;
}
