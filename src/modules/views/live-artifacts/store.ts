import { heavyRows, type HeavyRows, isHeavy } from "../../../db/heavy-page.ts";
import { json, nullable, text } from "../../../db/row.ts";
import { type Parameter, param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import type { Executor } from "../../../db/connect.ts";
import { flowsOfVersion } from "../../runtime/snapshots/document-sql.ts";

/** A version of what runs in an environment: its id there, and the environment's id before it. */
type VersionKeys = HeavyRows;

/** What runs of a repo: lists as JSON text without their brackets or, where they are too much at once, which versions they are made of. */
const liveArtifacts = {
  /** What runs, sorted by environment, then by name. */
  entries: nullable(text),
  /** The artifacts that run, each once, the newest first. */
  artifacts: nullable(text),
  /** The environments they run in, sorted by name. */
  environments: text,
  heavy_entries: nullable(json<VersionKeys>()),
  heavy_artifacts: nullable(json<VersionKeys>()),
};

/** Whose artifacts are asked for, and where the links to them lead. */
interface Asked {
  repo_id: string;
  api_url: string;
  org_name: string;
}

/** The same as parameters. */
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

function scopeOf(orgId: string, { repo_id, api_url, org_name }: Asked): Scope {
  return { org: param(orgId), repo: param(repo_id), api: param(api_url), name: param(org_name) };
}

/** Selects what of the repo runs, with the first flow that knows it from there. @param versions a relation `r` of ids, and environments' ids. */
function selectLive({ org, repo }: Scope, versions: Sql): Sql {
  return sql`
      select a.id, a.name, a.fingerprint, a.compliant, a.environment_id, a.created_at, a.running -> 'creationTimestamp' as starts,
        e.name as environment_name, e.type as environment_type, e.snapshot_count,
        known.flow, (known.flow ->> 'artifact_id')::uuid as artifact_id
      from ${versions}
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
      where a.repo_ids[1] = ${repo}::uuid`;
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

const entriesInOrder = sql`(select string_agg(json, ',' order by environment_name, name, fingerprint) from entries)`;
const artifactsInOrder = sql`(select string_agg(json, ',' order by artifact_id desc) from artifacts)`;

/** Reads what of a repo runs in physical environments that are not archived, in one statement; of much only which versions that is. */
export function getLiveArtifacts(db: Executor, orgId: string, asked: Asked) {
  const scope = scopeOf(orgId, asked);
  const { org, repo } = scope;
  const running = sql`(
        select environment_id, id from running_artifacts where org_id = ${org}::uuid and repo_id = ${repo}::uuid offset 0) r`;
  const id = raw("environment_id || ' ' || id");
  const entryBytes = raw("600 + octet_length(name) + 2 * octet_length(environment_name)");
  const artifactBytes = raw("600 + octet_length(flow::text)");
  const heavy = isHeavy(raw("(select bytes from weighed)"));
  return db.one(query("live-artifacts", liveArtifacts)`
    with live as materialized (${selectLive(scope, running)}
    ), known as materialized (select distinct on (artifact_id) * from live order by artifact_id
    ), weighed as materialized (
      select (select sum(${entryBytes}) from live) + (select sum(${artifactBytes}) from known) as bytes
    ), entries as (${selectEntries(scope)}
    ), artifacts as (${selectArtifacts(scope)}
    ), places as (${selectEnvironments(scope)}
    )
    select
      case when not ${heavy} then coalesce(${entriesInOrder}, '') end as entries,
      case when not ${heavy} then coalesce(${artifactsInOrder}, '') end as artifacts,
      coalesce((select string_agg(json, ',' order by environment_name) from places), '') as environments,
      case when ${heavy} then (
        select ${heavyRows({ id, bytes: entryBytes, order: "environment_name, name, fingerprint" })} from live) end as heavy_entries,
      case when ${heavy} then (
        select ${heavyRows({ id, bytes: artifactBytes, order: "artifact_id desc" })} from known) end as heavy_artifacts`);
}

/** Reads one of the lists of some versions, as JSON text without its brackets, as far as their environments are not archived by now. */
export async function listLive(
  db: Executor,
  orgId: string,
  { list, keys, ...asked }: Asked & { list: "entries" | "artifacts"; keys: readonly string[] },
): Promise<string> {
  const scope = scopeOf(orgId, asked);
  const versions = sql`(
        select split_part(key, ' ', 1)::uuid as environment_id, split_part(key, ' ', 2)::bigint as id
        from unnest(${keys}::text[]) as key offset 0) r`;
  const [select, inOrder] =
    list === "entries" ? [selectEntries(scope), entriesInOrder] : [selectArtifacts(scope), artifactsInOrder];
  const { items } = await db.one(query({ items: text })`
    with live as materialized (${selectLive(scope, versions)}), ${raw(list)} as (${select})
    select coalesce(${inOrder}, '') as items`);
  return items;
}
