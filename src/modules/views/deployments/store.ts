import { heavyRows, isHeavy, type PageText, pageOf, pageText } from "../../../db/heavy-page.ts";
import { integer, json, nullable, text, uuid } from "../../../db/row.ts";
import { type Parameter, moment, param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { hasValue } from "../../../db/value-number.ts";
import type { Executor } from "../../../db/connect.ts";
import type { TimeWindow } from "../../../domain/time-window.ts";
import type { PageSlice } from "../../../lib/paging.ts";
import { meantEnvironment } from "../../runtime/environments/names-sql.ts";
import { flowIdsOfVersion, flowsOfVersion } from "../../runtime/snapshots/document-sql.ts";

/**
 * Deployments are rows of `snapshot_artifacts`, which have an index in the order of each list. A page is read from it
 * backwards, and the whole window is counted in it without looking at the rows: what a list costs grows with the window
 * asked for, not with the history.
 */

/** Which deployments; what is undefined does not matter, an empty list fits none. */
export interface DeploymentFilter {
  repo_ids?: readonly string[] | undefined;
  /** Physical ones. */
  environment_ids?: readonly string[] | undefined;
}

/** Where links of deployments lead. */
export interface DeploymentLinks {
  /** URL of the API. */
  api_url: string;
  /** Name of the organization. */
  org_name: string;
}

/** Condition on `a` for being a deployment. The predicate of the indexes, to the letter. */
const isDeployment = (org: Parameter): Sql =>
  sql`a.org_id = ${org}::uuid and a.type like 'started-%' and a.repo_ids <> '{}'`;

const inWindow = ({ start_ts, end_ts }: { start_ts: Parameter; end_ts: Parameter }): Sql =>
  sql`a.created_at >= to_timestamp(${start_ts}::float8) and a.created_at <= to_timestamp(${end_ts}::float8)`;

/** Makes the ends of a window parameters. */
const windowOf = ({ start_ts, end_ts }: TimeWindow) => ({ start_ts: param(start_ts), end_ts: param(end_ts) });

/** Condition on `a` for a physical environment: logical ones repeat what starts in their members. */
const isPhysical = (org: Parameter): Sql => sql`a.environment_id <> all (array(
  select id from environments where org_id = ${org}::uuid and archived = any ('{f,t}') and type = 'logical'))`;

/** Condition on `a` for one of these environments, which are physical; every one fits null. */
function inEnvironments(ids: readonly string[] | undefined): Sql {
  const wanted = param(ids ?? null);
  return sql`(${wanted}::uuid[] is null or a.environment_id = any (${wanted}::uuid[]))`;
}

const newestFirst = (row: string): Sql =>
  raw(`${row}.created_at desc, ${row}.environment_id desc, ${row}.id desc`);

/** Writes the seconds from the build of `a`, the first report of its fingerprint, until it was deployed. */
const leadTime = (org: Parameter): Sql => sql`greatest(epoch(a.created_at) - epoch((
  select b.created_at from artifacts b where b.org_id = ${org}::uuid and b.fingerprint = a.fingerprint
  order by b.id limit 1)), 0)`;

/**
 * Names what the deployments in `page` refer to, each once: flows and repos are shown by their present names. A deployment
 * is that of the first flow that has the repo: the one that built the artifact, as far as is known.
 */
const named = (org: Parameter): Sql => sql`page_flows as materialized (
      select p.*, known.flow, (known.flow ->> 'flow_id')::uuid as flow_id, known.flow -> 'deployment_diff' as diff
      from page p cross join lateral (
        select value as flow from json_array_elements(${flowsOfVersion(org, "p")}) with ordinality as each (value, position)
        where value ->> 'repo_id' = p.repo_ids[1]::text order by position limit 1) known
    ), flow_names as materialized (
      select id, name from flows where org_id = ${org}::uuid and id = any (array(select distinct flow_id from page_flows))
    ), page_repos as materialized (
      select id, json_build_object('name', name, 'repo_id', coalesce(repo_id, ''), 'provider', provider) as json
      from repos where org_id = ${org}::uuid and id = any (array(select distinct repo_ids[1] from page))
    ), page_environments as materialized (
      select id, name, type from environments
      where org_id = ${org}::uuid and id = any (array(select distinct environment_id from page))
    )`;

/** Writes the page as the text of a JSON array, from what is `named` there. */
function pageJson(org: Parameter, { api_url, org_name }: DeploymentLinks): Sql {
  const [api, name] = [param(api_url), param(org_name)];
  const link = (kind: string, path: string): Sql =>
    sql`json_build_object('href', ${api}::text || ${raw(`'/${kind}/'`)} || ${name}::text || ${raw(path)})`;
  const item = sql`json_build_object(
    'deployed_at', epoch(a.created_at), 'environment_name', e.name, 'environment_type', e.type,
    'snapshot_index', a.first_index, 'artifact_name', a.name, 'fingerprint', a.fingerprint, 'compliant', a.compliant,
    'flow_name', f.name, 'trail_name', a.flow -> 'trail_name',
    'template_reference_name', a.flow -> 'template_reference_name', 'repo_info', r.json,
    'git_commit', a.flow -> 'git_commit', 'commit_url', a.flow -> 'commit_url',
    'git_commit_info', a.flow -> 'git_commit_info', 'lead_time_seconds', ${leadTime(org)},
    'replaced_artifact', case when json_typeof(a.diff) = 'object' then json_build_object(
      'artifact_name', a.diff -> 'previous_artifact_name', 'fingerprint', a.diff -> 'previous_fingerprint',
      'trail_name', a.diff -> 'previous_trail_name', 'git_commit', a.diff -> 'previous_git_commit',
      'commit_url', a.diff -> 'previous_git_commit_url', 'diff_url', a.diff -> 'diff_url',
      'still_running', a.diff -> 'previous_running') end,
    '_links', json_build_object(
      'self', ${link("deployments", "'/' || e.name || '/' || a.fingerprint")},
      'artifact', ${link("artifacts", "'/' || f.name || '/fingerprint/' || a.fingerprint")},
      'snapshot', ${link("snapshots", "'/' || e.name || '/' || a.first_index")}))`;
  return sql`(
    select coalesce('[' || string_agg(${item}::text, ',' order by ${newestFirst("a")}) || ']', '[]')
    from page_flows a
    join page_environments e on e.id = a.environment_id
    left join flow_names f on f.id = a.flow_id
    left join page_repos r on r.id = a.repo_ids[1]
  )`;
}

/** Writes about how many bytes the deployment `p` has: a commit may say any number of them. */
const bytesOf = (org: Parameter): Sql => sql`(600 + octet_length(${flowsOfVersion(org, "p")}::text))`;

/** Names the bytes of `page`. */
const pageBytes = (org: Parameter): Sql =>
  sql`page_bytes as materialized (select sum(${bytesOf(org)}) as bytes from page p)`;

/** Writes the columns of a page: its text or, where it is heavy, its rows by environment and number there. */
function pageColumns(org: Parameter, links: DeploymentLinks): Sql {
  const heavy = isHeavy(raw("(select bytes from page_bytes)"));
  const rows = { id: raw("p.environment_id || ' ' || p.id"), bytes: bytesOf(org) };
  return sql`case when not ${heavy} then ${pageJson(org, links)} end as list,
      case when ${heavy} then (
        select ${heavyRows({ ...rows, order: "p.created_at desc, p.environment_id desc, p.id desc" })} from page p) end as heavy`;
}

/** Reads deployments by environments and numbers, newest first, as the text of a JSON array. */
export async function listDeploymentsByKey(
  db: Executor,
  orgId: string,
  { keys, ...links }: DeploymentLinks & { keys: readonly string[] },
): Promise<string> {
  const org = param(orgId);
  const { list } = await db.one(query({ list: text })`
    with page as materialized (
      select a.* from unnest(${keys}::text[]) as asked (key) cross join lateral (
        select * from snapshot_artifacts
        where org_id = ${org}::uuid and environment_id = split_part(asked.key, ' ', 1)::uuid
          and id = split_part(asked.key, ' ', 2)::bigint limit 1) a
    ), ${named(org)}
    select ${pageJson(org, links)} as list`);
  return list;
}

/** What a list shows, and the statement for it. */
interface Listing {
  /** Of the statement. */
  name: string;
  /** A relation `key`: each of its rows has deployments of its own, in an index. */
  keys: Sql;
  /** Which those are, from `a` and `key`. */
  condition: Sql;
}

function listingOf(org: Parameter, { repo_ids, environment_ids }: DeploymentFilter): Listing {
  if (repo_ids !== undefined)
    return {
      name: "list-repo-deployments",
      keys: sql`unnest(${param(repo_ids)}::uuid[]) as key (id)`,
      condition: sql`a.repo_ids[1] = key.id and ${isPhysical(org)} and ${inEnvironments(environment_ids)}`,
    };
  if (environment_ids !== undefined)
    return {
      name: "list-environment-deployments",
      keys: sql`unnest(${param(environment_ids)}::uuid[]) as key (id)`,
      condition: sql`a.environment_id = key.id`,
    };
  return { name: "list-deployments", keys: sql`(select) as key`, condition: isPhysical(org) };
}

const deploymentPage = {
  /** In the window. */
  total_count: integer,
  ...pageText,
};

interface DeploymentQuery extends DeploymentFilter, TimeWindow, DeploymentLinks, PageSlice {}

/** Reads one page of deployments, newest first, with the number of deployments in the window, in one statement. */
export async function listDeployments(
  db: Executor,
  orgId: string,
  wanted: DeploymentQuery,
): Promise<{ total_count: number; deployments: PageText }> {
  const org = param(orgId);
  const [offset, limit] = [param(wanted.offset), param(wanted.limit)];
  const { name, keys, condition } = listingOf(org, wanted);
  const from = sql`snapshot_artifacts a where ${isDeployment(org)} and ${inWindow(windowOf(wanted))} and ${condition}`;
  const { total_count, ...page } = await db.one(query(name, deploymentPage)`
    with hits as materialized (
      select hit.* from ${keys} cross join lateral (
        select a.created_at, a.environment_id, a.id from ${from}
        order by ${newestFirst("a")} limit ${offset}::bigint + ${limit}::bigint) hit
      order by ${newestFirst("hit")} offset ${offset}::bigint limit ${limit}::bigint
    ), page as materialized (
      select a.* from hits join snapshot_artifacts a
        on a.org_id = ${org}::uuid and a.environment_id = hits.environment_id and a.id = hits.id
    ), ${named(org)}, ${pageBytes(org)}
    select (
        select coalesce(sum(found.count), 0)::bigint from ${keys} cross join lateral (
          select count(*) as count from ${from}) found
      ) as total_count, ${pageColumns(org, wanted)}`);
  return { total_count, deployments: pageOf(page) };
}

/** The place of a deployment among others. */
export interface DeploymentPlace {
  /** Unix seconds. */
  at: number;
  environment_id: string;
  id: number;
}

const laterDeployments = {
  ...pageText,
  /** Of the last one; null without any. */
  last: nullable(json<DeploymentPlace>()),
};

/** Reads deployments in the window, newest first: the first ones, or those after one. One statement. */
export async function listDeploymentsAfter(
  db: Executor,
  orgId: string,
  wanted: DeploymentFilter &
    TimeWindow &
    DeploymentLinks & { after: DeploymentPlace | undefined; limit: number },
): Promise<{ deployments: PageText; last: DeploymentPlace | null }> {
  const org = param(orgId);
  const limit = param(wanted.limit);
  const { keys, condition } = listingOf(org, wanted);
  const { after } = wanted;
  const place =
    after === undefined
      ? sql`true`
      : sql`(a.created_at, a.environment_id, a.id) < (${moment(after.at)}, ${after.environment_id}::uuid, ${after.id}::bigint)`;
  const { last, ...page } = await db.one(query(laterDeployments)`
    with hits as materialized (
      select hit.* from ${keys} cross join lateral (
        select a.created_at, a.environment_id, a.id from snapshot_artifacts a
        where ${isDeployment(org)} and ${inWindow(windowOf(wanted))} and ${condition} and ${place}
        order by ${newestFirst("a")} limit ${limit}::bigint) hit
      order by ${newestFirst("hit")} limit ${limit}::bigint
    ), page as materialized (
      select a.* from hits join snapshot_artifacts a
        on a.org_id = ${org}::uuid and a.environment_id = hits.environment_id and a.id = hits.id
    ), ${named(org)}, ${pageBytes(org)}
    select ${pageColumns(org, wanted)}, (
      select json_build_object('at', epoch(created_at), 'environment_id', environment_id, 'id', id) from hits
      order by created_at, environment_id, id limit 1) as last`);
  return { deployments: pageOf(page), last };
}

/** Finds the latest deployment of an artifact into any of these environments, as JSON text. */
export async function findLatestDeployment(
  db: Executor,
  orgId: string,
  wanted: DeploymentLinks & { fingerprint: string; environment_ids: readonly string[] },
): Promise<string | undefined> {
  const org = param(orgId);
  const { deployments } = await db.one(query("deployment", { deployments: text })`
    with page as materialized (
      select a.* from snapshot_artifacts a
      where ${isDeployment(org)} and ${hasValue(org, "a", "fingerprint", sql`${param(wanted.fingerprint)}::text`)}
        and a.environment_id = any (${wanted.environment_ids}::uuid[])
      order by ${newestFirst("a")} limit 1
    ), ${named(org)}
    select ${pageJson(org, wanted)} as deployments`);
  return deployments === "[]" ? undefined : deployments.slice(1, -1);
}

const deploymentTimes = {
  /** Comma-separated Unix seconds, oldest first. */
  times: text,
  total_count: integer,
};

/** Reads when artifacts were deployed into environments: those of a flow, or of all. */
export function listDeploymentTimes(
  db: Executor,
  orgId: string,
  wanted: TimeWindow & { environment_ids: readonly string[]; flow_id: string | undefined },
) {
  const org = param(orgId);
  const flow = param(wanted.flow_id ?? null);
  return db.one(query("deployment-times", deploymentTimes)`
    select coalesce(string_agg(epoch(created_at)::text, ',' order by created_at), '') as times,
      count(*)::bigint as total_count
    from unnest(${wanted.environment_ids}::uuid[]) as key (id) cross join lateral (
      select a.created_at from snapshot_artifacts a
      where ${isDeployment(org)} and ${inWindow(windowOf(wanted))} and a.environment_id = key.id
        and (${flow}::uuid is null or ${flow}::uuid = any (${flowIdsOfVersion()}))
      offset 0) hit`);
}

/**
 * Reads the series of a repo's deployments in the window for each environment they reached, or each of these, sorted by
 * its name, as the text of a JSON array.
 */
export async function listDeploymentSeries(
  db: Executor,
  orgId: string,
  wanted: TimeWindow & { repo_id: string; environment_ids: readonly string[] | undefined },
): Promise<string> {
  const org = param(orgId);
  const { environments } = await db.one(query("deployment-statistics", { environments: text })`
    with series as materialized (
      select a.environment_id, count(*) as count, json_agg(epoch(a.created_at) order by a.created_at, a.id) as deployed_at,
        json_agg(${leadTime(org)} order by a.created_at, a.id) as lead_times
      from snapshot_artifacts a
      where ${isDeployment(org)} and ${inWindow(windowOf(wanted))} and a.repo_ids[1] = ${wanted.repo_id}::uuid
        and ${isPhysical(org)} and ${inEnvironments(wanted.environment_ids)}
      group by a.environment_id
    )
    select coalesce('[' || string_agg(json_build_object('environment_name', e.name, 'environment_type', e.type,
      'total_count', s.count, 'deployed_at', s.deployed_at, 'lead_time_seconds', s.lead_times)::text, ','
      order by e.name) || ']', '[]') as environments
    from series s join environments e on e.org_id = ${org}::uuid and e.id = s.environment_id`);
  return environments;
}

/**
 * Lists ids of the physical environments that names mean: logical ones stand for their members, unknown ones for none, and
 * archived ones are meant by their archived names alone.
 */
export async function listPhysicalIds(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<string[]> {
  const org = param(orgId);
  const rows = await db.all(query("physical-environments", { id: uuid })`
    select distinct coalesce(m.member_id, e.id) as id
    from unnest(${names}::text[]) as wanted (name)
    cross join ${meantEnvironment(org, sql`wanted.name`)} found
    join environments e on e.org_id = ${org}::uuid and e.id = found.id and (not e.archived or found.by_name)
    left join environment_members m on m.org_id = ${org}::uuid and m.logical_id = e.id
    where e.type <> 'logical' or m.member_id is not null
    order by 1`);
  return rows.map(({ id }) => id);
}
