import type { Database } from "../../src/db/connect.ts";
import { partitionedTables } from "../../src/domain/partitions.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { partitionTable } from "../../src/modules/maintenance/partitions/service.ts";

/** Divides every table that can be divided by months, as `waybill admin partition` does. */
export async function divideTables(db: Database, clock: Clock = systemClock): Promise<void> {
  for (const table of partitionedTables) await partitionTable({ db, clock }, table, () => {});
}
