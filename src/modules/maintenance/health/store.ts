import type { Executor } from "../../../db/connect.ts";
import { float, integer, text } from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";

/** Reads which PostgreSQL answers: its version as a text (`18.4`), and as a number (`180004`). */
export function readDatabaseVersion(db: Executor): Promise<{ version: string; number: number }> {
  return db.one(query("database-version", { version: text, number: integer }, { pipelined: true })`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      current_setting('server_version_num')::integer as number`);
}

/** Asks the shortest question there is. */
export async function askNothing(db: Executor): Promise<void> {
  await db.one(query({ one: integer })`select 1 as one`);
}

/** Reads the database's clock, in Unix seconds. */
export async function readDatabaseClock(db: Executor): Promise<number> {
  const { now } = await db.one(query("database-clock", { now: float }, { pipelined: true })`
    select extract(epoch from clock_timestamp())::float8 as now`);
  return now;
}

/** Lists the migrations that were applied, by name. */
export async function listAppliedMigrations(db: Executor): Promise<string[]> {
  const rows = await db.all(query({ name: text })`select name from migrations order by name`);
  return rows.map(({ name }) => name);
}
