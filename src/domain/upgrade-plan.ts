import { backupPart } from "./backups.ts";
import { parseRelease } from "./releases.ts";

/** A pending migration, as an estimate sees it. */
export interface PendingMigration {
  name: string;
  rewrites: boolean;
  /** Growing tables that it writes, reads or locks. */
  tables: readonly string[];
}

/** How large a table is. */
export interface TableSize {
  name: string;
  /** About. */
  rows: number;
  /** With its indexes. */
  bytes: number;
}

/** What a pending migration will take, about. */
export interface MigrationEstimate {
  name: string;
  rewrites: boolean;
  tables: TableSize[];
  seconds: number;
  /** Room on the disk while it runs. */
  bytes: number;
}

/** Bytes of tables that are written anew with their indexes in a second, about: measured on a shared machine with two processors. */
export const rewrittenPerSecond = 16_000_000;

/** Of a table that is written anew there is a second one until the end, and both are in the write-ahead log. */
const roomFactor = 2;

/** Estimates what pending migrations will take, from the sizes of tables that are there. Seconds and bytes. */
export function estimateMigrations(
  pending: readonly PendingMigration[],
  sizes: readonly TableSize[],
): MigrationEstimate[] {
  const known = new Map(sizes.map((size) => [size.name, size]));
  return pending.map(({ name, rewrites, tables }) => {
    const touched = [...new Set(tables)].flatMap((table) => known.get(table) ?? []);
    const bytes = rewrites ? touched.reduce((sum, table) => sum + table.bytes, 0) : 0;
    return {
      name,
      rewrites,
      tables: touched,
      seconds: Math.ceil(bytes / rewrittenPerSecond),
      bytes: bytes * roomFactor,
    };
  });
}

/** Sums up the room that an upgrade needs: that of its largest step, and of a backup before if one is made. Bytes. */
export function roomOf(estimates: readonly MigrationEstimate[], backupOfBytes: number): number {
  const largest = Math.max(0, ...estimates.map(({ bytes }) => bytes));
  return largest + Math.ceil(estimates.some(({ rewrites }) => rewrites) ? backupOfBytes * backupPart : 0);
}

/**
 * Says in words how far a schema is from a version. @param by which applied its last migrations, which is not the one that ran last: one
 * that brings no migrations leaves no trace. Null when that was not noted.
 */
export function describeDistance(by: string | null, to: string): string {
  const [old, present] = [parseRelease(by ?? ""), parseRelease(to)];
  if (by === null || old === undefined || present === undefined) return `to ${to}`;
  if (by === to) return `to ${to}, which made the schema`;
  const [what, versions] =
    old[0] !== present[0]
      ? ["major", present[0] - old[0]]
      : old[1] !== present[1]
        ? ["minor", present[1] - old[1]]
        : ["patch", present[2] - old[2]];
  const count = Math.abs(versions);
  const away = `${count} ${what} version${count === 1 ? "" : "s"} ${versions < 0 ? "back" : "on"}`;
  return `to ${to}, ${away} from ${by}, which made the schema`;
}
