import type { Executor } from "./executor.ts";
import { text } from "./row.ts";
import { query, sql } from "./sql.ts";

/** Reads what is noted under a name for all servers of a database; undefined when nothing is. */
export async function findSetting(db: Executor, name: string): Promise<string | undefined> {
  const row = await db.first(query({ value: text })`
    select value from instance_settings where name = ${name}`);
  return row?.value;
}

/** Notes something under a name, in place of what was noted before. */
export async function putSetting(db: Executor, name: string, value: string): Promise<void> {
  await db.run(sql`
    insert into instance_settings (name, value) values (${name}, ${value})
    on conflict (name) do update set value = excluded.value`);
}

/** Notes something under a name, unless something is noted already. */
export async function proposeSetting(db: Executor, name: string, value: string): Promise<void> {
  await db.run(sql`
    insert into instance_settings (name, value) values (${name}, ${value}) on conflict do nothing`);
}

/** Forgets what is noted under a name. @returns whether anything was. */
export async function deleteSetting(db: Executor, name: string): Promise<boolean> {
  return (await db.run(sql`delete from instance_settings where name = ${name}`)) > 0;
}
