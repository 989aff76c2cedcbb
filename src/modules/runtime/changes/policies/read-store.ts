import type { Database, Executor } from "../../../../db/connect.ts";
import { integer, nullable, type RowOf, text, uuid } from "../../../../db/row.ts";
import { query, type Sql, sql } from "../../../../db/sql.ts";

/** A policy as the wire has it (contract environments 8.3), in three parts: keys in the published order. */
const head = sql`json_build_object(
    'name', p.name, 'description', p.description, 'created_by', p.created_by_name, 'created_at', epoch(p.created_at),
    'last_modified_at', epoch(p.last_modified_at), 'archived', false)::text`;

const version = sql`json_build_object('version', v.version, 'comment', v.comment, 'timestamp', epoch(v.created_at),
    'created_by', v.created_by_name, 'policy_yaml', v.text)::text`;

function tailOf(orgId: string): Sql {
  return sql`json_build_object(
    'events', (
      select json_agg(json_build_object('type', h.type, 'timestamp', epoch(h.created_at),
        'user', h.created_by_name, 'data', h.data) order by h.id)
      from policy_events h where h.org_id = ${orgId} and h.policy_id = p.id),
    'consuming_envs', (
      select coalesce(json_agg(e.name order by e.name), '[]')
      from environment_policies a join environments e on e.org_id = a.org_id and e.id = a.environment_id
      where a.org_id = ${orgId} and a.policy_id = p.id and not e.archived)
  )::text`;
}

/** A policy that exists, and how long the texts of its versions are together. */
const key = { id: uuid, bytes: integer };
export type PolicyKey = RowOf<typeof key>;

/** Lists every policy, by name. */
export function listPolicyKeys(db: Executor, orgId: string): Promise<PolicyKey[]> {
  return db.all(query(key)`
    select id, text_bytes as bytes from policies where org_id = ${orgId} order by name`);
}

/** Finds the policy of this name. */
export function findPolicyKey(db: Executor, orgId: string, name: string): Promise<PolicyKey | undefined> {
  return db.first(query(key)`
    select id, text_bytes as bytes from policies where org_id = ${orgId} and name = ${name}`);
}

/** A policy but for its versions: JSON texts of what comes before and after them. */
const frame = { head: text, tail: text };
type PolicyFrame = RowOf<typeof frame>;

/** Versions read at a time, in bytes of their texts, the first one whatever it weighs. */
const sliceBytes = 512 * 1024;

/** Reads a policy without its versions. It exists: policies are never removed. */
export function getPolicyFrame(db: Database, orgId: string, id: string): Promise<PolicyFrame> {
  return db.sliced(() =>
    db.one(query(frame)`
      select ${head} as head, ${tailOf(orgId)} as tail from policies p where p.org_id = ${orgId} and p.id = ${id}`),
  );
}

/** Reads the versions of a policy as texts of some of them each, with commas between these. */
export async function* listPolicyVersions(db: Database, orgId: string, id: string): AsyncGenerator<string> {
  for (let after = 0; ;) {
    const slice = query({ items: nullable(text), last: nullable(integer) })`
      select string_agg(${version}, ',' order by v.version) as items, max(v.version) as last
      from (
        select *, sum(octet_length(text)) over (order by version) as bytes from policy_versions
        where org_id = ${orgId} and policy_id = ${id} and version > ${after} and version <= ${after}::int + 100) v
      where v.version = ${after}::int + 1 or v.bytes <= ${sliceBytes}`;
    const { items, last } = await db.sliced(() => db.one(slice));
    if (items === null || last === null) return;
    yield items;
    after = last;
  }
}

/** Reads policies in full, in the order of their names, with commas between them: for those whose texts are few bytes. */
export async function readPolicies(db: Database, orgId: string, ids: readonly string[]): Promise<string> {
  const policies = query({ items: text })`
    select string_agg(left(${head}, -1) || ', "versions" : [' || (
      select string_agg(${version}, ',' order by v.version) from policy_versions v
      where v.org_id = ${orgId} and v.policy_id = p.id) || '], ' || substr(${tailOf(orgId)}, 2), ',' order by p.name) as items
    from policies p where p.org_id = ${orgId} and p.id = any(${ids}::uuid[])`;
  const { items } = await db.sliced(() => db.one(policies));
  return items;
}
