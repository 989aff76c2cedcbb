import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, sql } from "../../../db/sql.ts";

const space = {
  id: uuid,
  name: text,
  parent_id: nullable(uuid),
  created_at: timestamp,
  last_modified_at: timestamp,
};

/** A space. Without a parent it is at the root. */
export type SpaceRow = RowOf<typeof space>;

/** Lists all spaces of an organization, by name. */
export function listSpaces(db: Executor, orgId: string): Promise<SpaceRow[]> {
  return db.all(query(space)`
    select id, name, parent_id, created_at, last_modified_at from spaces
    where org_id = ${orgId} order by name, id`);
}

/** Inserts a space. Its parent must exist and have no other space of this name. */
export async function insertSpace(tx: Tx, orgId: string, made: SpaceRow): Promise<void> {
  await tx.run(sql`
    insert into spaces (org_id, id, name, parent_id, created_at, last_modified_at)
    values (${orgId}, ${made.id}, ${made.name}, ${made.parent_id}, ${moment(made.created_at)},
      ${moment(made.last_modified_at)})`);
}

/** Sets name and place. */
export async function updateSpace(tx: Tx, orgId: string, changed: SpaceRow): Promise<void> {
  await tx.run(sql`
    update spaces
    set name = ${changed.name}, parent_id = ${changed.parent_id}, last_modified_at = ${moment(changed.last_modified_at)}
    where org_id = ${orgId} and id = ${changed.id}`);
}

/** Says whether a space has spaces, live environments or live flows in it. */
export async function isOccupied(tx: Tx, orgId: string, id: string): Promise<boolean> {
  const { occupied } = await tx.one(query({ occupied: boolean })`
    select exists (select from spaces where org_id = ${orgId}::uuid and parent_id = ${id}::uuid)
      or exists (select from environments
        where org_id = ${orgId}::uuid and space_id = ${id}::uuid and archived_at is null)
      or exists (select from flows where org_id = ${orgId}::uuid and space_id = ${id}::uuid and archived_at is null)
      as occupied`);
  return occupied;
}

/** Moves what is archived in a space to the root. */
export async function updateArchivedToRoot(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx.run(sql`
    with environment as (
      update environments set space_id = null
      where org_id = ${orgId}::uuid and space_id = ${id}::uuid and archived_at is not null
    )
    update flows set space_id = null
    where org_id = ${orgId}::uuid and space_id = ${id}::uuid and archived_at is not null`);
}

/** Deletes a space, in which there must be nothing. */
export async function deleteSpace(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx.run(sql`delete from spaces where org_id = ${orgId} and id = ${id}`);
}
