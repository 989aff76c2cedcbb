import { isDistributed } from "../db/citus/distribute.ts";
import { parseMonth, partitionedTables, type PartitionedTable, writeMonth } from "../domain/partitions.ts";
import { removeBefore } from "../modules/maintenance/partitions/removal-service.ts";
import { abandonCopy, partitionTable } from "../modules/maintenance/partitions/service.ts";
import { type CommandDeps, commandActor } from "./command-deps.ts";
import { CliError, print } from "./output.ts";

/** What `partition` is asked for. */
export interface PartitionOptions {
  abandon?: boolean;
  /** A month as `2026-03`. */
  removeBefore?: string;
  /** Days for which nothing was reported to a trail that is over, a whole number as text. */
  quietDays?: string;
}

function tableOf(text: string): PartitionedTable {
  const table = partitionedTables.find((each) => each === text);
  if (table !== undefined) return table;
  throw new CliError(`'${text}' cannot be partitioned: only ${partitionedTables.join(", ")}`);
}

const mostDays = 36_500;

function readDays(text: string): number {
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= mostDays) return days;
  throw new CliError(`'${text}' is not a number of days: give a whole one from 1 to ${mostDays}`);
}

async function remove(
  deps: CommandDeps,
  table: PartitionedTable,
  { removeBefore: month = "", quietDays }: PartitionOptions,
): Promise<void> {
  const until = parseMonth(month);
  if (until === undefined) throw new CliError(`'${month}' is not a month: give one such as 2026-03`);
  const removal = { until, ...(quietDays === undefined ? {} : { quietDays: readDays(quietDays) }) };
  const months = await removeBefore(deps, commandActor("remove_partition"), table, removal);
  const list = months.length === 0 ? "nothing" : months.map(writeMonth).join(", ");
  print.line(`Removed of ${table}: ${list}`);
}

const secondsBetweenLines = 10;

/** Makes a function that prints how many rows were copied, but not too often. */
function progress(): (rows: number) => void {
  let printed = performance.now();
  return (rows) => {
    if (performance.now() - printed < secondsBetweenLines * 1000) return;
    printed = performance.now();
    print.line(`${rows} rows copied`);
  };
}

/**
 * Runs `waybill admin partition`: divides a table by months while the server runs, gives that up, or removes months.
 * @throws CliError for what is no table or no month, and on Citus.
 */
export async function partition(deps: CommandDeps, given: string, options: PartitionOptions): Promise<void> {
  if (await isDistributed(deps.db.pool))
    throw new CliError("Tables are not divided by months on Citus, which divides them by organization");
  const table = tableOf(given);
  if (options.removeBefore !== undefined) return remove(deps, table, options);
  if (options.abandon === true) {
    const was = await abandonCopy(deps, table);
    print.line(was ? `Gave up partitioning ${table}: it is as it was` : `No copy of ${table} is under way`);
    return;
  }
  const done = await partitionTable(deps, table, progress());
  print.line(done ? `Partitioned ${table} by months` : `Table ${table} is partitioned already`);
}
