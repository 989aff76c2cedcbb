import { type RawBuilder, sql } from "kysely";

import { jsonb } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { Tags } from "../../domain/tags.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** What to take away first and to put there then. */
export interface TagChange {
  remove: string[];
  set: Tags;
  at: Timestamp;
}

/** Tables whose rows carry tags. */
const tables = {
  environment: sql`environments`,
  flow: sql`flows`,
  repo: sql`repos`,
  control: sql`controls`,
} as const;

export type TaggedTable = keyof typeof tables;

/** Flows and controls do not tell when they were modified. */
function modifiedAt(table: TaggedTable, at: Timestamp): RawBuilder<unknown> {
  if (table === "flow" || table === "control") return sql``;
  return sql`, last_modified_at = to_timestamp(${at}::float8)`;
}

/**
 * Changes one resource's tags, in one statement.
 * @returns how many tags it has then; undefined when it had exactly those already.
 */
export async function updateTags(
  tx: Tx,
  orgId: string,
  resource: { table: TaggedTable; id: string },
  change: TagChange,
): Promise<number | undefined> {
  const changed = sql`(r.tags - ${change.remove}::text[]) || ${jsonb(change.set)}`;
  const { rows } = await sql<{ count: number }>`
    update ${tables[resource.table]} as r set tags = ${changed}${modifiedAt(resource.table, change.at)}
    where r.org_id = ${orgId}::uuid and r.id = ${resource.id}::uuid and r.tags <> ${changed}
    returning (select count(*)::int from jsonb_object_keys(r.tags)) as count`.execute(tx);
  return rows[0]?.count;
}

/** Whether there is a repo of this id. */
export async function findRepo(db: Executor, orgId: string, id: string): Promise<{ id: string } | undefined> {
  return db
    .selectFrom("repos")
    .select("id")
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** The id behind a control's identifier. */
export async function findControl(
  db: Executor,
  orgId: string,
  identifier: string,
): Promise<{ id: string } | undefined> {
  return db
    .selectFrom("controls")
    .select("id")
    .where("org_id", "=", orgId)
    .where("identifier", "=", identifier)
    .executeTakeFirst();
}
