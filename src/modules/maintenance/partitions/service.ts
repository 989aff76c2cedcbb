import { setTimeout as sleep } from "node:timers/promises";

import type { Executor } from "../../../db/connect.ts";
import { transaction } from "../../../db/transaction.ts";
import { invalid } from "../../../domain/errors.ts";
import {
  addMonths,
  defaultPartitionOf,
  type Month,
  monthOf,
  monthOfPartition,
  monthsAhead,
  monthsBetween,
  monthsFrom,
  mostPartitions,
  type PartitionedTable,
  partitionedTables,
  writeMonth,
} from "../../../domain/partitions.ts";
import { lockErasing } from "../../kernel/audit/erase-service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findTableKind, listPartitions } from "./catalog-store.ts";
import {
  copyNextRows,
  countStrays,
  deleteCopy,
  findCopy,
  findExtremes,
  hasSameRows,
  insertCopy,
  listCopies,
  updateSwitched,
} from "./copy-store.ts";
import { unhurried, whenFree } from "./patience-service.ts";
import {
  addPartitions,
  analyzeTable,
  createCopy,
  createCopyTrigger,
  dropCopy,
  dropFormer,
  hasSameColumns,
  switchTables,
} from "./shape-store.ts";

type PartitionDeps = Pick<Deps, "db" | "clock">;

/** How many rows are copied in one transaction. */
const batch = 2_000;

/** Tells whether a table is partitioned. */
export async function isPartitioned({ db }: Pick<Deps, "db">, table: PartitionedTable): Promise<boolean> {
  return (await findTableKind(db, table))?.is_partitioned === true;
}

/** Finds the months that partitions are needed for: of all rows there are, and some more. */
async function neededMonths(deps: PartitionDeps, table: PartitionedTable): Promise<Month[]> {
  const { first } = await unhurried(deps, (tx) => findExtremes(tx, table));
  const now = monthOf(deps.clock.now());
  const from = first === null ? now : monthOf(Math.min(first, deps.clock.now()));
  const count = monthsBetween(from, now) + 1;
  if (count > mostPartitions)
    throw invalid(
      `The first row of ${table} is of ${writeMonth(from)}, ${count} months ago: at most ${mostPartitions} months can have partitions`,
    );
  return monthsFrom(from, addMonths(now, monthsAhead));
}

async function begin(deps: PartitionDeps, table: PartitionedTable): Promise<void> {
  const months = await neededMonths(deps, table);
  await whenFree(deps, async (tx) => {
    if (table === "audit_log") await lockErasing(tx);
    await dropCopy(tx, table);
    await createCopy(tx, table, months);
    await createCopyTrigger(tx, table);
    await insertCopy(tx, table);
  });
}

async function copyRows(
  deps: PartitionDeps,
  table: PartitionedTable,
  report: (rows: number) => void,
): Promise<void> {
  for (let total = (await findCopy(deps.db, table))?.copied_rows ?? 0; ;) {
    const begun = performance.now();
    const copied = await transaction(deps.db, (tx) => copyNextRows(tx, table, batch));
    total += copied;
    report(total);
    if (copied < batch) return;
    // Others have half of the machine.
    await sleep(performance.now() - begun);
  }
}

/** Puts the copy in the table's place. @throws AppError validation when it is not what it is to be. */
async function takeOver(deps: PartitionDeps, table: PartitionedTable): Promise<void> {
  if (!(await hasSameColumns(deps.db, table)))
    throw invalid(`The columns of ${table} were changed since the copy began: begin anew with --abandon`);
  if (!(await transaction(deps.db, (tx) => hasSameRows(tx, table))))
    throw invalid(`Rows of ${table} were changed since the copy began: begin anew with --abandon`);
  await whenFree(deps, async (tx) => {
    await switchTables(tx, table);
    await updateSwitched(tx, table);
  });
}

/**
 * Divides a table by months: copies its rows in pieces while everybody goes on writing, then switches in one short lock. It
 * goes on where it ended if it was interrupted.
 * @param report is told after each piece how many rows were copied.
 * @returns whether there was anything to do.
 * @throws AppError validation when the table was changed meanwhile otherwise than by new rows.
 */
export async function partitionTable(
  deps: PartitionDeps,
  table: PartitionedTable,
  report: (rows: number) => void,
): Promise<boolean> {
  let copy = await findCopy(deps.db, table);
  if (copy === undefined) {
    if (await isPartitioned(deps, table)) return false;
    await begin(deps, table);
    copy = await findCopy(deps.db, table);
  }
  if (copy?.is_switched !== true) {
    await copyRows(deps, table, report);
    await takeOver(deps, table);
  }
  await whenFree(deps, async (tx) => {
    await dropFormer(tx, table);
    await deleteCopy(tx, table);
  });
  await unhurried(deps, (tx) => analyzeTable(tx, table));
  return true;
}

/** Gives up a copy that is under way: the table stays as it is. @returns whether there was one. */
export async function abandonCopy(deps: PartitionDeps, table: PartitionedTable): Promise<boolean> {
  const copy = await findCopy(deps.db, table);
  if (copy === undefined) return false;
  if (copy.is_switched) throw invalid(`The partitions of ${table} are in use: run it again to finish`);
  await whenFree(deps, async (tx) => {
    await dropCopy(tx, table);
    await deleteCopy(tx, table);
  });
  return true;
}

/** Refuses to go on. @throws AppError validation while a table is being copied: changes of its rows would be lost. */
export async function requireNoCopies(db: Executor): Promise<void> {
  const [table] = await listCopies(db);
  if (table !== undefined)
    throw invalid(
      `Table ${table} is being partitioned: finish with \`waybill admin partition ${table}\`, or give up with --abandon`,
    );
}

/** What partitioned tables lack. */
export interface PartitionState {
  table: PartitionedTable;
  /** How many months from now on have partitions, without this one. */
  ahead: number;
  /** Rows that no month was made for, as far as 1,000. */
  strays: number;
}

/** Reads the state of every partitioned table. */
export async function readPartitionStates(deps: PartitionDeps): Promise<PartitionState[]> {
  const states: PartitionState[] = [];
  for (const table of partitionedTables) {
    if (!(await isPartitioned(deps, table))) continue;
    const months = (await listPartitions(deps.db, table)).flatMap(
      (name) => monthOfPartition(table, name) ?? [],
    );
    const now = monthOf(deps.clock.now());
    const ahead = Math.max(-1, ...months.map((month) => monthsBetween(now, month)));
    states.push({ table, ahead, strays: await countStrays(deps.db, defaultPartitionOf(table)) });
  }
  return states;
}

/** Makes partitions for the months to come, where some are missing. */
export async function keepPartitionsAhead(deps: PartitionDeps): Promise<void> {
  const now = monthOf(deps.clock.now());
  for (const { table, ahead } of await readPartitionStates(deps)) {
    if (ahead >= monthsAhead) continue;
    await whenFree(deps, async (tx) => {
      await addPartitions(tx, table, {
        parent: table,
        source: table,
        months: monthsFrom(now, addMonths(now, monthsAhead)),
      });
    });
    await unhurried(deps, (tx) => analyzeTable(tx, table));
  }
}
