import type { Executor } from "./executor.ts";
import { boolean, text } from "./row.ts";
import { query, sql } from "./sql.ts";

/** Thrown when the database is one that a restore did not finish. */
export class UnfinishedRestoreError extends Error {}

/**
 * Makes sure that nobody works with a database into which a backup was restored only in part. What says so stands outside of the
 * tables that are restored (schema `waybill_restore`), and is there from before the first of them is made until all was checked.
 * @throws UnfinishedRestoreError
 */
export async function requireRestored(db: Executor): Promise<void> {
  if (await isUnfinished(db))
    throw new UnfinishedRestoreError(
      "A restore of this database did not finish, so that it is incomplete: run `waybill restore` again, which begins anew.",
    );
}

/** Tells whether a restore began that did not finish. */
export async function isUnfinished(db: Executor): Promise<boolean> {
  const { found } = await db.one(query({ found: boolean })`
    select to_regnamespace('waybill_restore') is not null as found`);
  return found;
}

const setting = "quarantine";

/** Holds back whatever a restored copy would tell others. @param reason which backup it is a copy of. */
export async function quarantine(db: Executor, reason: string): Promise<void> {
  await db.run(sql`
    insert into instance_settings (name, value) values (${setting}, ${reason})
    on conflict (name) do update set value = excluded.value`);
}

/** Reads which backup this is a copy of that is to tell nobody anything; undefined for a database that may. */
export async function findQuarantine(db: Executor): Promise<string | undefined> {
  const row = await db.first(
    query({ value: text })`select value from instance_settings where name = ${setting}`,
  );
  return row?.value;
}

/** Lets a restored copy tell others what it has to. @returns whether it was not allowed to. */
export async function releaseQuarantine(db: Executor): Promise<boolean> {
  return (await db.run(sql`delete from instance_settings where name = ${setting}`)) > 0;
}
