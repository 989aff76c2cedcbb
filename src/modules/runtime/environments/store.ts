import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, json, nullable, oneOf, type RowOf, text, uuid } from "../../../db/row.ts";
import { param, query, raw, sql } from "../../../db/sql.ts";
import { environmentTypes } from "../../../domain/environments.ts";
import type { Org } from "../../../domain/principal.ts";
import { environmentJson } from "./environment-sql.ts";
import { meantEnvironment } from "./names-sql.ts";
import { summaryJson } from "./summary-sql.ts";

/** What a name was found to mean. */
const environmentRef = {
  id: uuid,
  /** Its present name, which an old one may have led to. */
  name: text,
  type: oneOf(environmentTypes),
  archived: boolean,
  /** Whether it was asked for by its present name. */
  by_name: boolean,
};

export type EnvironmentRef = RowOf<typeof environmentRef>;

/** Finds the environment a name means: its present, former or, when archived, original name. */
export function findEnvironment(
  db: Executor,
  orgId: string,
  name: string,
): Promise<EnvironmentRef | undefined> {
  const org = param(orgId);
  return db.first(query("find-environment", environmentRef)`
    select e.id, e.name, e.type, e.archived, found.by_name
    from ${meantEnvironment(org, param(name))} found
    join environments e on e.org_id = ${org}::uuid and e.id = found.id`);
}

/** Finds what several names mean, in their order; undefined for those that mean nothing. */
export async function findEnvironments(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<(EnvironmentRef | undefined)[]> {
  const org = param(orgId);
  const rows = await db.all(query({ found: nullable(json<EnvironmentRef>()) })`
    select case when e.id is not null then json_build_object('id', e.id, 'name', e.name, 'type', e.type,
      'archived', e.archived, 'by_name', found.by_name) end as found
    from unnest(${names}::text[]) with ordinality as wanted (name, position)
    left join ${meantEnvironment(org, sql`wanted.name`)} found on true
    left join environments e on e.org_id = ${org}::uuid and e.id = found.id
    order by wanted.position`);
  return rows.map(({ found }) => found ?? undefined);
}

const environmentReply = {
  archived: boolean,
  /** Whether it was asked for by its present name. */
  by_name: boolean,
  json: text,
};

/** An environment as JSON text, with what decides whether it may be shown under the name asked for. */
export type EnvironmentReply = RowOf<typeof environmentReply>;

/**
 * Reads what a name means, ready to be sent.
 * @param summary asks for what the list tells on request, too, silence as of a moment in Unix seconds.
 */
export function findEnvironmentReply(
  db: Executor,
  org: Org,
  name: string,
  summary?: { at: number },
): Promise<EnvironmentReply | undefined> {
  const orgId = param(org.id);
  const id = sql`${orgId}::uuid`;
  const named = { id, name: sql`${param(JSON.stringify(org.name))}::text` };
  const more = summary === undefined ? undefined : summaryJson("e", id, summary.at);
  return db.first(query(more === undefined ? "environment" : "environment-more", environmentReply)`
    select e.archived, found.by_name, ${environmentJson("e", named, more)} as json
    from ${meantEnvironment(orgId, param(name))} found
    join environments e on e.org_id = ${orgId}::uuid and e.id = found.id`);
}

/** What changes of settings look at. */
const environmentSettings = {
  id: uuid,
  name: text,
  type: oneOf(environmentTypes),
  description: text,
  space_id: nullable(uuid),
  archived: boolean,
};

export type EnvironmentSettings = RowOf<typeof environmentSettings>;

/**
 * Reads and locks an environment, so that nobody else changes it until the transaction ends.
 * @param strength `update` when its name is going to change.
 */
export function lockEnvironment(
  tx: Tx,
  orgId: string,
  id: string,
  strength: "no key update" | "update" = "no key update",
): Promise<EnvironmentSettings | undefined> {
  return tx.first(query(environmentSettings)`
    select id, name, type, description, space_id, archived from environments
    where org_id = ${orgId} and id = ${id} for ${raw(strength)}`);
}

const lockedRow = {
  id: uuid,
  name: text,
  /** Asked for, and live. */
  wanted: boolean,
};

/**
 * Locks those of these environments that are live, so that nobody else changes them until the transaction ends, nor the
 * logical ones around them, which change with them. Physical ones are locked before logical ones, each in order of ids, so
 * that nobody waits in a circle. Two statements: what is around an environment stands still only once that is locked.
 * @returns the live ones that were asked for.
 */
export async function lockEnvironments(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  if (ids.length === 0) return [];
  const org = sql`${orgId}::uuid`;
  const asked = sql`id = any(${ids}::uuid[])`;
  const environments = sql`
    select id, name, ${asked} and not archived as wanted from environments where org_id = ${org}`;
  const physical = await tx.all(query(lockedRow)`
    ${environments} and ${asked} and type <> 'logical' order by id for no key update`);
  const logical = await tx.all(query(lockedRow)`
    ${environments} and type = 'logical' and (${asked} or id in (
      select logical_id from environment_members where org_id = ${org} and member_id = any(${ids}::uuid[])))
    order by id for no key update`);
  return [...physical, ...logical].filter(({ wanted }) => wanted).map(({ id, name }) => ({ id, name }));
}
