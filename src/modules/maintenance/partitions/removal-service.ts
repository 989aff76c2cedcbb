import { invalid } from "../../../domain/errors.ts";
import {
  type Month,
  monthOf,
  monthOfPartition,
  monthsBetween,
  type PartitionedTable,
  writeMonth,
} from "../../../domain/partitions.ts";
import type { Actor } from "../../../domain/principal.ts";
import { daySeconds } from "../../../lib/units.ts";
import { recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { listPartitions } from "./catalog-store.ts";
import { unhurried, whenFree } from "./patience-service.ts";
import { listNeeds, listOwners, type Need, type NeedOptions } from "./removal-store.ts";
import { isPartitioned } from "./service.ts";
import { dropPartition } from "./shape-store.ts";

type RemovalDeps = Pick<Deps, "db" | "clock" | "config">;

/** Days after which a trail that nobody reports to is over, unless another number is given. */
export const usualQuietDays = 30;

/** What is removed. */
interface Removal {
  /** Everything from before this month. */
  until: Month;
  /** Days for which nothing was reported to a trail that is over. */
  quietDays?: number;
}

/** A partition with the rows of a month. */
interface Part {
  name: string;
  month: Month;
}

/** Those that hold a month back, of each kind, that are named. */
const named = 5;

function listed(names: readonly string[]): string {
  return names.slice(0, named).join(", ") + (names.length > named ? " and others" : "");
}

function writeNeed({ why, names }: Need, quietDays: number): string {
  if (why === "runs") return `by what runs in ${listed(names)}`;
  if (why === "not sent") return `by ${listed(names)}, where entries of it have not arrived`;
  const days = quietDays === 1 ? "in the last day" : `in the last ${quietDays} days`;
  return `by trails that were reported to ${days}: ${listed(names)}`;
}

/** Lists the partitions with rows from before a month, the oldest first. */
async function partsBefore({ db }: RemovalDeps, table: PartitionedTable, until: Month): Promise<Part[]> {
  return (await listPartitions(db, table)).flatMap((name) => {
    const month = monthOfPartition(table, name);
    return month !== undefined && monthsBetween(month, until) > 0 ? [{ name, month }] : [];
  });
}

/** Refuses to remove what is needed. @throws AppError validation, with who needs it, and how much can be removed. */
async function requireUnneeded(
  deps: RemovalDeps,
  table: PartitionedTable,
  parts: readonly Part[],
  quietDays: number,
): Promise<void> {
  const options: NeedOptions = {
    quietSince: deps.clock.now() - quietDays * daySeconds,
    targets: deps.config.auditTargets,
    most: named,
  };
  for (const [index, { month }] of parts.entries()) {
    const needs = await unhurried(deps, (tx) => listNeeds(tx, table, month, options));
    if (needs.length === 0) continue;
    const why = needs.map((need) => writeNeed(need, quietDays)).join("; ");
    const rest = index === 0 ? "" : `. What is older is not: --remove-before ${writeMonth(month)}`;
    throw invalid(`${writeMonth(month)} of ${table} is still needed ${why}${rest}`);
  }
}

/**
 * Removes all rows of a partitioned table from before a month. Each month goes in one short lock, whatever is in it.
 * @returns the months removed.
 * @throws AppError validation, before anything is removed, when rows of such a month are needed: by what runs, by a trail that was
 * reported to within `quietDays`, or, of the audit log, by a target that has not got them.
 */
export async function removeBefore(
  deps: RemovalDeps,
  actor: Actor,
  table: PartitionedTable,
  { until, quietDays = usualQuietDays }: Removal,
): Promise<Month[]> {
  if (!(await isPartitioned(deps, table))) throw invalid(`Table ${table} is not partitioned`);
  if (monthsBetween(until, monthOf(deps.clock.now())) < 0)
    throw invalid(`${writeMonth(until)} is in the future`);
  const parts = await partsBefore(deps, table, until);
  await requireUnneeded(deps, table, parts, quietDays);
  for (const { name, month } of parts) {
    // Before it: who holds the log's counter must not wait for a table.
    for (const id of await unhurried(deps, (tx) => listOwners(tx, name)))
      await recorded(deps, { org: { id }, actor }, async (_tx, record) =>
        record("partition", `${table} ${writeMonth(month)}`),
      );
    await whenFree(deps, (tx) => dropPartition(tx, table, name));
  }
  return parts.map(({ month }) => month);
}
