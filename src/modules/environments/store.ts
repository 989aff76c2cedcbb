import { sql } from "kysely";

import { moment } from "../../db/columns.ts";
import type { Executor, PreparedExecutor, Tx } from "../../db/connect.ts";
import type { EnvironmentType } from "../../domain/environments.ts";
import type { Actor } from "../../domain/principal.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { environmentJson } from "./environment-json.ts";

/** What a name was found to mean. */
export interface EnvironmentRef {
  id: string;
  /** Its present name, which an old one may have led to. */
  name: string;
  type: string;
  archived: boolean;
  /** Whether it was asked for by its present name. */
  by_name: boolean;
}

/** The environment a name means: its present, former or, when archived, original name. */
export async function findEnvironment(
  db: Executor,
  orgId: string,
  name: string,
): Promise<EnvironmentRef | undefined> {
  const { rows } = await sql<EnvironmentRef>`/* find-environment */
    select e.id, e.name, e.type, e.archived, found.by_name
    from find_environment(${orgId}::uuid, ${name}::text) found
    join environments e on e.org_id = ${orgId}::uuid and e.id = found.id`.execute(db);
  return rows[0];
}

/** What several names mean, in their order; undefined for those that mean nothing. */
export async function findEnvironments(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<(EnvironmentRef | undefined)[]> {
  const { rows } = await sql<{ found: EnvironmentRef | null }>`
    select case when e.id is not null then json_build_object('id', e.id, 'name', e.name, 'type', e.type,
      'archived', e.archived, 'by_name', found.by_name) end as found
    from unnest(${names}::text[]) with ordinality as wanted (name, position)
    left join lateral find_environment(${orgId}::uuid, wanted.name) found on true
    left join environments e on e.org_id = ${orgId}::uuid and e.id = found.id
    order by wanted.position`.execute(db);
  return rows.map(({ found }) => found ?? undefined);
}

const replyStatement = {
  name: "environment",
  text: `select e.archived, found.by_name, ${environmentJson("e", "$2::text")} as json
    from find_environment($1::uuid, $3::text) found
    join environments e on e.org_id = $1::uuid and e.id = found.id`,
};

/** An environment as JSON text, with what decides whether it may be shown under the name asked for. */
export interface EnvironmentReply {
  archived: boolean;
  by_name: boolean;
  json: string;
}

/** What a name means, ready to be sent. */
export async function findEnvironmentReply(
  db: PreparedExecutor,
  org: { id: string; name: string },
  name: string,
): Promise<EnvironmentReply | undefined> {
  const [row] = await db.prepared<{ archived: boolean; by_name: boolean; json: string }>(replyStatement, [
    org.id,
    JSON.stringify(org.name),
    name,
  ]);
  return row;
}

/** What changes of settings look at. */
export interface EnvironmentSettings {
  id: string;
  name: string;
  type: string;
  description: string;
  space_id: string | null;
  archived: boolean;
}

/**
 * An environment that nobody else changes until the transaction ends.
 * @param strength `update` when its name is going to change.
 */
export async function lockEnvironment(
  tx: Tx,
  orgId: string,
  id: string,
  strength: "no key update" | "update" = "no key update",
): Promise<EnvironmentSettings | undefined> {
  const query = tx
    .selectFrom("environments")
    .select(["id", "name", "type", "description", "space_id", "archived"])
    .where("org_id", "=", orgId)
    .where("id", "=", id);
  return (strength === "update" ? query.forUpdate() : query.forNoKeyUpdate()).executeTakeFirst();
}

/**
 * Live environments that nobody else changes until the transaction ends, nor the logical ones around them, which change
 * with them. Physical ones are locked before logical ones, each in order of ids, so that nobody waits in a circle. Two
 * statements: what is around an environment stands still only once that is locked.
 */
export async function lockEnvironments(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  if (ids.length === 0) return [];
  const columns = sql`select id, name, id = any(${ids}::uuid[]) and not archived as wanted from environments
    where org_id = ${orgId}::uuid`;
  const physical = sql<LockedRow>`${columns} and id = any(${ids}::uuid[]) and type <> 'logical'
    order by id for no key update`;
  const logical = sql<LockedRow>`${columns} and type = 'logical' and (id = any(${ids}::uuid[]) or id in (
      select logical_id from environment_members
      where org_id = ${orgId}::uuid and member_id = any(${ids}::uuid[])))
    order by id for no key update`;
  const rows = [...(await physical.execute(tx)).rows, ...(await logical.execute(tx)).rows];
  return rows.filter(({ wanted }) => wanted).map(({ id, name }) => ({ id, name }));
}

interface LockedRow {
  id: string;
  name: string;
  /** Asked for, and live. */
  wanted: boolean;
}

/** The environment that has exactly this name at present. */
export async function findEnvironmentNamed(
  db: Executor,
  orgId: string,
  name: string,
): Promise<{ id: string; type: string; archived: boolean } | undefined> {
  return db
    .selectFrom("environments")
    .select(["id", "type", "archived"])
    .where("org_id", "=", orgId)
    .where("name", "=", name)
    .executeTakeFirst();
}

export interface NewEnvironment {
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
export async function upsertEnvironment(
  tx: Tx,
  orgId: string,
  environment: NewEnvironment,
): Promise<{ id: string; created: boolean } | undefined> {
  const { id, name, type, description, at } = environment;
  const { rows } = await sql<{ id: string; created: boolean }>`
    insert into environments as e (org_id, id, name, type, description, created_at, last_modified_at)
    values (${orgId}, ${id}, ${name}, ${type}, ${description}, ${moment(at)}, ${moment(at)})
    on conflict (org_id, name) do update
    set description = excluded.description, last_modified_at = excluded.last_modified_at
    where e.archived_at is null and e.type = excluded.type
      and excluded.description <> '' and excluded.description <> e.description
    returning e.id, e.id = ${id}::uuid as created`.execute(tx);
  return rows[0];
}

/** Sets description and space. */
export async function updateEnvironmentSettings(
  tx: Tx,
  orgId: string,
  change: { id: string; description: string; space_id: string | null; at: Timestamp },
): Promise<void> {
  const { id, description, space_id, at } = change;
  await tx
    .updateTable("environments")
    .set({ description, space_id, last_modified_at: moment(at) })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .execute();
}

/** Gives an environment a new name, which must be free. */
export async function updateEnvironmentName(
  tx: Tx,
  orgId: string,
  change: { id: string; name: string; at: Timestamp },
): Promise<void> {
  await tx
    .updateTable("environments")
    .set({ name: change.name, last_modified_at: moment(change.at) })
    .where("org_id", "=", orgId)
    .where("id", "=", change.id)
    .execute();
}

/** Remembers that an environment had this name. */
export async function insertFormerName(
  tx: Tx,
  orgId: string,
  former: { id: string; name: string },
): Promise<void> {
  await tx
    .insertInto("environment_former_names")
    .values({ org_id: orgId, name: former.name, environment_id: former.id })
    .onConflict((conflict) => conflict.columns(["org_id", "name"]).doUpdateSet({ environment_id: former.id }))
    .execute();
}

/** Forgets who had this name, because another environment has it now. */
export async function deleteFormerName(tx: Tx, orgId: string, name: string): Promise<void> {
  await tx
    .deleteFrom("environment_former_names")
    .where("org_id", "=", orgId)
    .where("name", "=", name)
    .execute();
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
export async function updateEnvironmentArchived(tx: Tx, orgId: string, archiving: Archiving): Promise<void> {
  const { id, name, archived_name, by, at } = archiving;
  await tx
    .updateTable("environments")
    .set({
      name: archived_name,
      original_name: name,
      archived_at: moment(at),
      last_modified_at: moment(at),
      archived_by_kind: by.kind,
      archived_by_id: by.id,
      archived_by_name: by.name,
    })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .execute();
}

/** Which of these names are taken. */
export async function listTakenNames(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom("environments")
    .select("name")
    .where("org_id", "=", orgId)
    .where("name", "in", names)
    .execute();
  return rows.map(({ name }) => name);
}
