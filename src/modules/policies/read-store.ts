import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";

/** A policy as the wire has it (contract environments 8.3), keys in the published order. */
const policyJson = sql`json_build_object(
    'name', p.name, 'description', p.description, 'created_by', p.created_by_name, 'created_at', epoch(p.created_at),
    'last_modified_at', epoch(p.last_modified_at), 'archived', false,
    'versions', (
      select json_agg(json_build_object('version', v.version, 'comment', v.comment, 'timestamp', epoch(v.created_at),
        'created_by', v.created_by_name, 'policy_yaml', v.text) order by v.version)
      from policy_versions v where v.org_id = p.org_id and v.policy_id = p.id),
    'events', (
      select json_agg(json_build_object('type', h.type, 'timestamp', epoch(h.created_at),
        'user', h.created_by_name, 'data', h.data) order by h.id)
      from policy_events h where h.org_id = p.org_id and h.policy_id = p.id),
    'consuming_envs', (
      select coalesce(json_agg(e.name order by e.name), '[]')
      from environment_policies a join environments e on e.org_id = a.org_id and e.id = a.environment_id
      where a.org_id = p.org_id and a.policy_id = p.id and not e.archived)
  )::text`;

/** Every policy as JSON text, by name. */
export async function listPolicies(db: Executor, orgId: string): Promise<string[]> {
  const { rows } = await sql<{ json: string }>`
    select ${policyJson} as json from policies p where p.org_id = ${orgId} order by p.name`.execute(db);
  return rows.map(({ json }) => json);
}

/** One policy as JSON text. */
export async function findPolicyJson(db: Executor, orgId: string, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ json: string }>`
    select ${policyJson} as json from policies p where p.org_id = ${orgId} and p.name = ${name}`.execute(db);
  return rows[0]?.json;
}
