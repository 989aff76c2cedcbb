import { sql } from "kysely";

import type { Tx } from "./connect.ts";

/** Written last by every transaction; locked last here, so that transactions under way can end. */
const writtenLast = ["org_counters", "audit_log"];

interface Table {
  name: string;
  /** Has a trigger against truncation. */
  guarded: boolean;
}

/** Every table but the one that says which migrations were applied. `2 ^ 5` marks triggers on truncate. */
async function listTables(tx: Tx): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select c.relname as name, exists (
      select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal and t.tgtype::int & 32 <> 0
    ) as guarded
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> 'migrations'
    order by c.relname = any(${writtenLast}::text[]), c.relname`.execute(tx);
  return rows;
}

/**
 * Removes every record and every queued job, those of record included, whose guards it lifts for the time of this
 * transaction. Tables, and what the running server has prepared for them, stay valid. For development only.
 */
export async function emptyDatabase(tx: Tx): Promise<void> {
  const tables = await listTables(tx);
  const list = sql.join(tables.map((table) => sql.id("public", table.name)));
  await sql`lock table ${list} in access exclusive mode`.execute(tx);
  const guarded = tables.filter((table) => table.guarded).map((table) => sql.id("public", table.name));
  for (const table of guarded) await sql`alter table ${table} disable trigger user`.execute(tx);
  await sql`truncate ${list} restart identity`.execute(tx);
  for (const table of guarded) await sql`alter table ${table} enable trigger user`.execute(tx);
  await sql`delete from graphile_worker._private_jobs`.execute(tx);
}
