import { sql } from "kysely";

import { moment } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

export interface SpaceRow {
  id: string;
  name: string;
  parent_id: string | null;
  created_at: Timestamp;
  last_modified_at: Timestamp;
}

/** All spaces of an organization, by name. */
export async function listSpaces(db: Executor, orgId: string): Promise<SpaceRow[]> {
  return db
    .selectFrom("spaces")
    .select(["id", "name", "parent_id", "created_at", "last_modified_at"])
    .where("org_id", "=", orgId)
    .orderBy("name")
    .orderBy("id")
    .execute();
}

/** Inserts a space. Its parent must exist and have no other space of this name. */
export async function insertSpace(tx: Tx, orgId: string, space: SpaceRow): Promise<void> {
  await tx
    .insertInto("spaces")
    .values({
      ...space,
      org_id: orgId,
      created_at: moment(space.created_at),
      last_modified_at: moment(space.last_modified_at),
    })
    .execute();
}

/** Sets name and place. */
export async function updateSpace(tx: Tx, orgId: string, space: SpaceRow): Promise<void> {
  await tx
    .updateTable("spaces")
    .set({
      name: space.name,
      parent_id: space.parent_id,
      last_modified_at: moment(space.last_modified_at),
    })
    .where("org_id", "=", orgId)
    .where("id", "=", space.id)
    .execute();
}

/** Whether a space has spaces, live environments or live flows in it. */
export async function findOccupied(tx: Tx, orgId: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ occupied: boolean }>`
    select exists (select from spaces where org_id = ${orgId}::uuid and parent_id = ${id}::uuid)
      or exists (select from environments
        where org_id = ${orgId}::uuid and space_id = ${id}::uuid and archived_at is null)
      or exists (select from flows where org_id = ${orgId}::uuid and space_id = ${id}::uuid and archived_at is null)
      as occupied`.execute(tx);
  return rows[0]?.occupied === true;
}

/** Moves what is archived in a space to the root. */
export async function updateArchivedToRoot(tx: Tx, orgId: string, id: string): Promise<void> {
  await sql`
    with environment as (
      update environments set space_id = null
      where org_id = ${orgId}::uuid and space_id = ${id}::uuid and archived_at is not null
    )
    update flows set space_id = null
    where org_id = ${orgId}::uuid and space_id = ${id}::uuid and archived_at is not null`.execute(tx);
}

/** Deletes a space, in which there must be nothing. */
export async function deleteSpace(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx.deleteFrom("spaces").where("org_id", "=", orgId).where("id", "=", id).execute();
}
