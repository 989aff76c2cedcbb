import { text } from "../../../db/row.ts";
import { type Parameter, param, query, type Sql, sql } from "../../../db/sql.ts";
import type { Executor } from "../../../db/connect.ts";
import { flowsOfVersion } from "../../runtime/snapshots/document-sql.ts";

/** Columns of the one row that answers: lists as JSON text, without their brackets. */
const liveArtifacts = {
  /** What runs, sorted by environment, then by name. */
  entries: text,
  /** The artifacts that run, each once, the newest first. */
  artifacts: text,
  /** The environments they run in, sorted by name. */
  environments: text,
};

/** Whose artifacts are asked for, and where the links to them lead. */
interface Scope {
  /** Id of the organization. */
  org: Parameter;
  /** Id of the repo. */
  repo: Parameter;
  /** URL of the API. */
  api: Parameter;
  /** Name of the organization. */
  name: Parameter;
}

/** Selects what of the repo runs, with the first flow that knows it from there. */
function selectLive({ org, repo }: Scope): Sql {
  return sql`
      select a.id, a.name, a.fingerprint, a.compliant, a.environment_id, a.created_at, a.running -> 'creationTimestamp' as starts,
        e.name as environment_name, e.type as environment_type, e.snapshot_count,
        known.flow, (known.flow ->> 'artifact_id')::uuid as artifact_id
      from running_artifacts r
      cross join lateral (
        select * from snapshot_artifacts
        where org_id = ${org}::uuid and environment_id = r.environment_id and id = r.id limit 1) a
      cross join lateral (
        select e.name, e.type, s.snapshot_count from environments e
        join environment_reports s on s.org_id = ${org}::uuid and s.environment_id = e.id
        where e.org_id = ${org}::uuid and e.id = a.environment_id and not e.archived and e.type <> 'logical' limit 1) e
      cross join lateral (
        select value as flow from json_array_elements(${flowsOfVersion(org)}) with ordinality as each (value, position)
        where value ->> 'repo_id' = a.repo_ids[1]::text order by position limit 1) known
      where r.org_id = ${org}::uuid and r.repo_id = ${repo}::uuid`;
}

/** Selects the `live` rows as JSON. */
function selectEntries({ api, name }: Scope): Sql {
  return sql`
      select environment_name, id, json_build_object('environment_id', wire_id(environment_id),
        'artifact_id', wire_id(artifact_id), 'artifact_name', name, 'snapshot_index', snapshot_count,
        'compliance', case compliant when true then 'COMPLIANT' when false then 'NON-COMPLIANT' end,
        'started_at', coalesce((
          select min(start::text::numeric) from json_array_elements(starts) as start where start::text::numeric > 0),
          epoch(created_at)),
        '_links', json_build_object('snapshot', json_build_object('href',
          ${api}::text || '/snapshots/' || ${name}::text || '/' || environment_name || '/' || snapshot_count)))::text as json,
        name, fingerprint
      from live`;
}

/** Selects the artifacts of the `live` rows as JSON. */
function selectArtifacts({ org, api, name }: Scope): Sql {
  return sql`
      select distinct on (live.artifact_id) live.artifact_id, json_build_object('id', wire_id(live.artifact_id),
        'fingerprint', live.fingerprint, 'commit_sha', live.flow -> 'git_commit', 'commit_url', live.flow -> 'commit_url',
        '_links', json_build_object('self', json_build_object('href',
          ${api}::text || '/artifacts/' || ${name}::text || '/' || f.name || '/fingerprint/' || live.fingerprint)))::text as json
      from live join flows f on f.org_id = ${org}::uuid and f.id = (live.flow ->> 'flow_id')::uuid
      order by live.artifact_id`;
}

/** Selects the environments of the `live` rows as JSON. */
function selectEnvironments({ api, name }: Scope): Sql {
  return sql`
      select distinct on (environment_name) environment_name, json_build_object('id', wire_id(environment_id),
        'name', environment_name, 'type', environment_type,
        '_links', json_build_object('self', json_build_object('href',
          ${api}::text || '/environments/' || ${name}::text || '/' || environment_name)))::text as json
      from live order by environment_name`;
}

/** Reads what of a repo runs in physical environments that are not archived, in one statement. */
export function getLiveArtifacts(
  db: Executor,
  orgId: string,
  { repo_id, api_url, org_name }: { repo_id: string; api_url: string; org_name: string },
) {
  const scope = { org: param(orgId), repo: param(repo_id), api: param(api_url), name: param(org_name) };
  return db.one(query("live-artifacts", liveArtifacts)`
    with live as materialized (${selectLive(scope)}
    ), entries as (${selectEntries(scope)}
    ), artifacts as (${selectArtifacts(scope)}
    ), places as (${selectEnvironments(scope)}
    )
    select
      coalesce((select string_agg(json, ',' order by environment_name, name, fingerprint) from entries), '') as entries,
      coalesce((select string_agg(json, ',' order by artifact_id desc) from artifacts), '') as artifacts,
      coalesce((select string_agg(json, ',' order by environment_name) from places), '') as environments`);
}
