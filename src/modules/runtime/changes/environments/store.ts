import type { Executor, Tx } from "../../../../db/connect.ts";
import { boolean, nullable, text, uuid } from "../../../../db/row.ts";
import { moment, query, sql } from "../../../../db/sql.ts";
import type { EnvironmentType } from "../../../../domain/environments.ts";
import type { Actor } from "../../../../domain/principal.ts";
import type { Timestamp } from "../../../../lib/clock.ts";

/** Finds the environment that has exactly this name at present. */
export function findEnvironmentNamed(
  db: Executor,
  orgId: string,
  name: string,
): Promise<{ id: string; type: string; archived: boolean } | undefined> {
  return db.first(query({ id: uuid, type: text, archived: boolean })`
    select id, type, archived from environments where org_id = ${orgId} and name = ${name}`);
}

interface NewEnvironment {
  id: string;
  name: string;
  type: EnvironmentType;
  description: string;
  at: Timestamp;
}

/**
 * Inserts an environment, or gives the live one of that name and type its description unless that is empty.
 * @returns its id and whether it is new; undefined when there was one and nothing to change in it.
 */
export function upsertEnvironment(
  tx: Tx,
  orgId: string,
  { id, name, type, description, at }: NewEnvironment,
): Promise<{ id: string; created: boolean } | undefined> {
  return tx.first(query({ id: uuid, created: boolean })`
    insert into environments as e (org_id, id, name, type, description, created_at, last_modified_at)
    values (${orgId}, ${id}, ${name}, ${type}, ${description}, ${moment(at)}, ${moment(at)})
    on conflict (org_id, name) do update
    set description = excluded.description, last_modified_at = excluded.last_modified_at
    where e.archived_at is null and e.type = excluded.type
      and excluded.description <> '' and excluded.description <> e.description
    returning e.id, e.id = ${id}::uuid as created`);
}

/** Sets description and space. */
export async function updateEnvironmentSettings(
  tx: Tx,
  orgId: string,
  {
    id,
    description,
    space_id,
    at,
  }: { id: string; description: string; space_id: string | null; at: Timestamp },
): Promise<void> {
  await tx.run(sql`
    update environments set description = ${description}, space_id = ${space_id}, last_modified_at = ${moment(at)}
    where org_id = ${orgId} and id = ${id}`);
}

/** Gives an environment a new name, which must be free. */
export async function updateEnvironmentName(
  tx: Tx,
  orgId: string,
  { id, name, at }: { id: string; name: string; at: Timestamp },
): Promise<void> {
  await tx.run(sql`
    update environments set name = ${name}, last_modified_at = ${moment(at)} where org_id = ${orgId} and id = ${id}`);
}

/** Remembers that an environment had this name. */
export async function insertFormerName(
  tx: Tx,
  orgId: string,
  former: { id: string; name: string },
): Promise<void> {
  await tx.run(sql`
    insert into environment_former_names (org_id, name, environment_id) values (${orgId}, ${former.name}, ${former.id})
    on conflict (org_id, name) do update set environment_id = excluded.environment_id`);
}

/** Forgets who had this name, because another environment has it now. */
export async function deleteFormerName(tx: Tx, orgId: string, name: string): Promise<void> {
  await tx.run(sql`delete from environment_former_names where org_id = ${orgId} and name = ${name}`);
}

export interface Archiving {
  id: string;
  name: string;
  /** The name it gets; it must be free. */
  archived_name: string;
  by: Actor;
  at: Timestamp;
}

/** Archives an environment under another name. */
export async function updateEnvironmentArchived(
  tx: Tx,
  orgId: string,
  { id, name, archived_name, by, at }: Archiving,
): Promise<void> {
  await tx.run(sql`
    update environments
    set name = ${archived_name}, original_name = ${name}, archived_at = ${moment(at)}, last_modified_at = ${moment(at)},
      archived_by_kind = ${by.kind}, archived_by_id = ${by.id}, archived_by_name = ${by.name}
    where org_id = ${orgId} and id = ${id}`);
}

/** Reads the name that an environment had until it was archived, and locks it; undefined when it is not archived. */
export async function lockArchived(tx: Tx, orgId: string, id: string): Promise<string | undefined> {
  const found = await tx.first(query({ original_name: nullable(text) })`
    select original_name from environments where org_id = ${orgId} and id = ${id} for update`);
  return found?.original_name ?? undefined;
}

/** Takes an environment out of the archive, under the name it had, which must be free. */
export async function updateEnvironmentUnarchived(
  tx: Tx,
  orgId: string,
  { id, at }: { id: string; at: Timestamp },
): Promise<void> {
  await tx.run(sql`
    update environments
    set name = original_name, original_name = null, archived_at = null, unarchived_at = ${moment(at)},
      last_modified_at = ${moment(at)}, archived_by_kind = null, archived_by_id = null, archived_by_name = null
    where org_id = ${orgId} and id = ${id}`);
}

/** Lists which of these names are taken. */
export async function listTakenNames(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<string[]> {
  const rows = await db.all(query({ name: text })`
    select name from environments where org_id = ${orgId} and name = any(${names}::text[])`);
  return rows.map(({ name }) => name);
}
