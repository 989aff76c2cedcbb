import type { Tx } from "./connect.ts";
import { writtenLast } from "./lock.ts";
import { boolean, type RowOf, text } from "./row.ts";
import { identifier, join, query, sql } from "./sql.ts";

const table = {
  name: text,
  /** Has a trigger against truncation. */
  guarded: boolean,
};

/** Lists every table but the one that says which migrations were applied. `2 ^ 5` marks triggers on truncate. */
function listTables(tx: Tx): Promise<RowOf<typeof table>[]> {
  return tx.all(query(table)`
    select c.relname as name, exists (
      select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal and t.tgtype::int & 32 <> 0
    ) as guarded
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> 'migrations'
    order by c.relname = any(${writtenLast}::text[]), c.relname`);
}

/**
 * Removes every record and every queued job, those of record included, whose guards it lifts for the time of this
 * transaction. Tables, and what the running server has prepared for them, stay valid. For development only.
 */
export async function emptyDatabase(tx: Tx): Promise<void> {
  const tables = await listTables(tx);
  const list = join(tables.map(({ name }) => identifier("public", name)));
  await tx.run(sql`lock table ${list} in access exclusive mode`);
  const guarded = tables.flatMap(({ name, guarded }) => (guarded ? [identifier("public", name)] : []));
  for (const name of guarded) await tx.run(sql`alter table ${name} disable trigger user`);
  await tx.run(sql`truncate ${list} restart identity`);
  for (const name of guarded) await tx.run(sql`alter table ${name} enable trigger user`);
  await tx.run(sql`delete from graphile_worker._private_jobs`);
}
