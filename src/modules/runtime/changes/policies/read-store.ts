import type { Database, Executor } from "../../../../db/connect.ts";
import { integer, nullable, type RowOf, text, uuid } from "../../../../db/row.ts";
import { constant, query, raw, type Sql, sql } from "../../../../db/sql.ts";
import { policyLimits } from "../../../../domain/policies.ts";
import { nilId } from "../../../../lib/ids.ts";

/** A policy as the wire has it (contract environments 8.3), in three parts: keys in the published order. */
const head = sql`json_build_object(
    'name', p.name, 'description', p.description, 'created_by', p.created_by_name, 'created_at', epoch(p.created_at),
    'last_modified_at', epoch(p.last_modified_at), 'archived', false)::text`;

const version = sql`json_build_object('version', v.version, 'comment', v.comment, 'timestamp', epoch(v.created_at),
    'created_by', v.created_by_name, 'policy_yaml', v.text)::text`;

const event = sql`json_build_object('type', h.type, 'timestamp', epoch(h.created_at),
    'user', h.created_by_name, 'data', h.data)`;

/** Writes the live environments `e` that a policy is attached to. */
function consuming(orgId: string, policyId: Sql | string): Sql {
  return sql`environment_policies a join environments e on e.org_id = a.org_id and e.id = a.environment_id
      where a.org_id = ${orgId} and a.policy_id = ${policyId} and not e.archived`;
}

function tailOf(orgId: string): Sql {
  return sql`json_build_object(
    'events', (select json_agg(${event} order by h.id) from policy_events h where h.org_id = ${orgId} and h.policy_id = p.id),
    'consuming_envs', (
      select coalesce(json_agg(e.name order by e.name), '[]') from ${consuming(orgId, raw("p.id"))})
  )::text`;
}

/**
 * Writes about how many bytes a policy has besides the texts of its versions: remarks on these, what it was described as, counted with the
 * most that may have, and the environments that it is attached to. None of it is read for that.
 */
function moreBytes(orgId: string): Sql {
  return sql`octet_length(p.description) + (
    select coalesce(sum(octet_length(v.comment)), 0) from policy_versions v
    where v.org_id = ${orgId} and v.policy_id = p.id) + (
    select count(*) * ${constant(100)} + count(*) filter (where h.type = 'metadata_update') * ${constant(policyLimits.description)}
    from policy_events h where h.org_id = ${orgId} and h.policy_id = p.id) + (
    select count(*) * ${constant(100)} from environment_policies a where a.org_id = ${orgId} and a.policy_id = p.id)`;
}

/** A policy that exists, and about how many bytes it has. */
const key = { id: uuid, bytes: integer };
export type PolicyKey = RowOf<typeof key>;

function selectKeys(orgId: string): Sql {
  return sql`select p.id, (p.text_bytes + ${moreBytes(orgId)})::bigint as bytes from policies p where p.org_id = ${orgId}`;
}

/** Lists every policy, by name. */
export function listPolicyKeys(db: Executor, orgId: string): Promise<PolicyKey[]> {
  return db.all(query(key)`${selectKeys(orgId)} order by p.name`);
}

/** Finds the policy of this name. */
export function findPolicyKey(db: Executor, orgId: string, name: string): Promise<PolicyKey | undefined> {
  return db.first(query(key)`${selectKeys(orgId)} and p.name = ${name}`);
}

/** Bytes of what is read at a time of a policy, the first one whatever it weighs. */
const sliceBytes = constant(512 * 1024);

/** Reads what a policy says of itself, as JSON text. */
export async function getPolicyHead(db: Database, orgId: string, id: string): Promise<string> {
  const own = query({ head: text })`
    select ${head} as head from policies p where p.org_id = ${orgId} and p.id = ${id}`;
  return (await db.sliced(() => db.one(own))).head;
}

/** Reads the versions of a policy as texts of some of them each, with commas between these. */
export async function* listPolicyVersions(db: Database, orgId: string, id: string): AsyncGenerator<string> {
  for (let after = 0; ;) {
    const slice = query({ items: nullable(text), last: nullable(integer) })`
      select string_agg(${version}, ',' order by v.version) as items, max(v.version) as last
      from (
        select *, sum(octet_length(text) + octet_length(comment)) over (order by version) as bytes from policy_versions
        where org_id = ${orgId} and policy_id = ${id} and version > ${after} and version <= ${after}::int + 100) v
      where v.version = ${after}::int + 1 or v.bytes <= ${sliceBytes}`;
    const { items, last } = await db.sliced(() => db.one(slice));
    if (items === null || last === null) return;
    yield items;
    after = last;
  }
}

/** Events of a policy that are read at a time. */
const eventsAtOnce = constant(50);

/** Reads the events of a policy as texts of some of them each, with commas between these. */
export async function* listPolicyEvents(db: Database, orgId: string, id: string): AsyncGenerator<string> {
  for (let after: string = nilId; ;) {
    const slice = query({ items: nullable(text), last: nullable(uuid) })`
      select string_agg(${event}::text, ',' order by h.id) as items, (array_agg(h.id order by h.id desc))[1] as last
      from (
        select * from policy_events
        where org_id = ${orgId} and policy_id = ${id} and id > ${after}::uuid
        order by id limit ${eventsAtOnce}) h`;
    const { items, last } = await db.sliced(() => db.one(slice));
    if (items === null || last === null) return;
    yield items;
    after = last;
  }
}

/** Reads the names of the environments that a policy is attached to. */
export async function listConsumingNames(db: Database, orgId: string, id: string): Promise<string[]> {
  const names = query({ name: text })`select e.name from ${consuming(orgId, id)} order by e.name`;
  const rows = await db.sliced(() => db.all(names));
  return rows.map(({ name }) => name);
}

/** Reads policies in full, in the order of their names, with commas between them: for those that are few bytes. */
export async function readPolicies(db: Database, orgId: string, ids: readonly string[]): Promise<string> {
  const policies = query({ items: text })`
    select string_agg(left(${head}, -1) || ', "versions" : [' || (
      select string_agg(${version}, ',' order by v.version) from policy_versions v
      where v.org_id = ${orgId} and v.policy_id = p.id) || '], ' || substr(${tailOf(orgId)}, 2), ',' order by p.name) as items
    from policies p where p.org_id = ${orgId} and p.id = any(${ids}::uuid[])`;
  const { items } = await db.sliced(() => db.one(policies));
  return items;
}
