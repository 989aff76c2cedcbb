import type { Executor } from "./connect.ts";
import { text } from "./row.ts";
import { query, sql } from "./sql.ts";

const setting = "evidence_cleaned";

/** Notes up to which address evidence was looked at for what belongs to nobody; "" when all of it was. */
export async function noteCleanedEvidence(db: Executor, address: string): Promise<void> {
  await db.run(sql`
    insert into instance_settings (name, value) values (${setting}, ${address})
    on conflict (name) do update set value = excluded.value`);
}

/** Reads up to which address that was; "" to begin with the first. */
export async function findCleanedEvidence(db: Executor): Promise<string> {
  const row = await db.first(query({ value: text })`
    select value from instance_settings where name = ${setting}`);
  return row?.value ?? "";
}
