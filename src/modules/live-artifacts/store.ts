import type { PreparedExecutor, PreparedStatement } from "../../db/connect.ts";

const url = (path: string): string => `json_build_object('href', $3::text || ${path})`;

/** $1 organization, $2 repo, $3 URL of the API, $4 name of the organization. */
const statement: PreparedStatement = {
  name: "live-artifacts",
  text: `
    with live as materialized (
      select a.id, a.name, a.fingerprint, a.compliant, a.environment_id, a.created_at, a.running -> 'creationTimestamp' as starts,
        e.name as environment_name, e.type as environment_type, e.snapshot_count,
        known.flow, (known.flow ->> 'artifact_id')::uuid as artifact_id
      from snapshot_artifacts a
      cross join lateral (
        select e.name, e.type, s.snapshot_count from environments e
        join environment_reports s on s.org_id = $1::uuid and s.environment_id = e.id
        where e.org_id = $1::uuid and e.id = a.environment_id and not e.archived and e.type <> 'logical' limit 1) e
      cross join lateral (
        select value as flow from json_array_elements(a.flows) with ordinality as each (value, position)
        where value ->> 'repo_id' = a.repo_ids[1]::text order by position limit 1) known
      where a.org_id = $1::uuid and a.last_index is null and a.repo_ids <> '{}' and a.repo_ids[1] = $2::uuid
    ), entries as (
      select environment_name, id, json_build_object('environment_id', wire_id(environment_id),
        'artifact_id', wire_id(artifact_id), 'artifact_name', name, 'snapshot_index', snapshot_count,
        'compliance', case compliant when true then 'COMPLIANT' when false then 'NON-COMPLIANT' end,
        'started_at', coalesce((
          select min(start::text::numeric) from json_array_elements(starts) as start where start::text::numeric > 0),
          epoch(created_at)),
        '_links', json_build_object('snapshot',
          ${url(`'/snapshots/' || $4::text || '/' || environment_name || '/' || snapshot_count`)}))::text as json,
        name, fingerprint
      from live
    ), artifacts as (
      select distinct on (live.artifact_id) live.artifact_id, json_build_object('id', wire_id(live.artifact_id),
        'fingerprint', live.fingerprint, 'commit_sha', live.flow -> 'git_commit', 'commit_url', live.flow -> 'commit_url',
        '_links', json_build_object('self',
          ${url(`'/artifacts/' || $4::text || '/' || f.name || '/fingerprint/' || live.fingerprint`)}))::text as json
      from live join flows f on f.org_id = $1::uuid and f.id = (live.flow ->> 'flow_id')::uuid
      order by live.artifact_id
    ), places as (
      select distinct on (environment_name) environment_name, json_build_object('id', wire_id(environment_id),
        'name', environment_name, 'type', environment_type,
        '_links', json_build_object('self', ${url(`'/environments/' || $4::text || '/' || environment_name`)}))::text as json
      from live order by environment_name
    )
    select
      coalesce((select string_agg(json, ',' order by environment_name, name, fingerprint) from entries), '') as entries,
      coalesce((select string_agg(json, ',' order by artifact_id desc) from artifacts), '') as artifacts,
      coalesce((select string_agg(json, ',' order by environment_name) from places), '') as environments`,
};

/** Lists as JSON text, without their brackets. */
export interface LiveArtifacts {
  /** Sorted by environment, then by name. */
  entries: string;
  /** What is in them, each once, the newest first. */
  artifacts: string;
  /** Sorted by name. */
  environments: string;
}

/** What of a repo runs in physical environments that are not archived: one statement. */
export async function getLiveArtifacts(
  db: PreparedExecutor,
  orgId: string,
  wanted: { repo_id: string; api_url: string; org_name: string },
): Promise<LiveArtifacts> {
  const values = [orgId, wanted.repo_id, wanted.api_url, wanted.org_name];
  const [row] = await db.prepared<LiveArtifacts & Record<string, unknown>>(statement, values);
  if (row === undefined) throw new Error("the list of what runs answered no row");
  return row;
}
