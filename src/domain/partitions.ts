/** A month, in UTC. */
export interface Month {
  year: number;
  /** From 1. */
  month: number;
}

/** Tables of record that may be divided by time, and the column that says when: the id begins with milliseconds. */
export const partitionKeys = {
  attestations: "id",
  trail_events: "id",
  audit_log: "occurred_at",
} as const;
export type PartitionedTable = keyof typeof partitionKeys;
export const partitionedTables = Object.keys(partitionKeys) as PartitionedTable[];

/** How many months there are to be partitions for before they begin. */
export const monthsAhead = 3;

/** How many partitions a copy may have: statements that look into all of them become slower with each. */
export const mostPartitions = 240;

/** Finds the month of a moment in Unix seconds. */
export function monthOf(seconds: number): Month {
  const date = new Date(seconds * 1000);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1 };
}

/** Finds a later month, or an earlier one for a negative number. */
export function addMonths({ year, month }: Month, count: number): Month {
  const months = year * 12 + month - 1 + count;
  return { year: Math.floor(months / 12), month: (((months % 12) + 12) % 12) + 1 };
}

/** Counts the months from one to another; negative when that is earlier. */
export function monthsBetween(from: Month, to: Month): number {
  return to.year * 12 + to.month - (from.year * 12 + from.month);
}

/** Lists months from one to another, both included. */
export function monthsFrom(first: Month, last: Month): Month[] {
  return Array.from({ length: Math.max(0, monthsBetween(first, last) + 1) }, (_, index) =>
    addMonths(first, index),
  );
}

/** Reads `2026-03`; undefined for anything else. */
export function parseMonth(text: string): Month | undefined {
  const match = /^(\d{4})-(\d{2})$/.exec(text);
  if (match === null) return undefined;
  const month = { year: Number(match[1]), month: Number(match[2]) };
  return month.month >= 1 && month.month <= 12 && month.year >= 1970 ? month : undefined;
}

/** Writes `2026-03`. */
export function writeMonth({ year, month }: Month): string {
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}`;
}

/** Finds when a month begins, in Unix seconds. */
export function beginningOf({ year, month }: Month): number {
  return Date.UTC(year, month - 1, 1) / 1000;
}

/** Writes the first id of a month: that of its first millisecond. */
export function firstIdOf(month: Month): string {
  const digits = (beginningOf(month) * 1000).toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

/** Writes the first value of a table's key that is of a month: an id, or the moment itself. */
export function boundOf(table: PartitionedTable, month: Month): string {
  const isMoment = partitionKeys[table] === "occurred_at";
  return isMoment ? new Date(beginningOf(month) * 1000).toISOString() : firstIdOf(month);
}

/** Names the partition of a month. */
export function partitionOf(table: PartitionedTable, month: Month): string {
  return `${table}_${writeMonth(month).replace("-", "_")}`;
}

/** Names the partition of whatever no month was made for. It is to stay empty. */
export function defaultPartitionOf(table: PartitionedTable): string {
  return `${table}_default`;
}

/** Finds the month of a partition by its name; undefined for the one of all others. */
export function monthOfPartition(table: PartitionedTable, name: string): Month | undefined {
  const prefix = `${table}_`;
  return name.startsWith(prefix) ? parseMonth(name.slice(prefix.length).replace("_", "-")) : undefined;
}

/** Names the table that rows are copied to, until it takes the place of the other. */
export function copyOf(table: PartitionedTable): string {
  return `${table}_partitions`;
}

/** Names the table as it was, from the switch until it is removed. */
export function formerOf(table: PartitionedTable): string {
  return `${table}_former`;
}
