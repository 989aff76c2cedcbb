import type { PreparedStatement } from "../../db/connect.ts";

/**
 * Deployments are rows of `snapshot_artifacts`, which have an index in the order of each list. A page is read from it
 * backwards, and the whole window is counted in it without looking at the rows: what a list costs grows with the window
 * asked for, not with the history.
 *
 * Parameters of all lists: $1 organization, $2 and $3 the window's ends as Unix seconds, $4 deployments to pass over, $5
 * deployments on the page, $6 URL of the API, $7 name of the organization.
 */

/** Which rows are deployments. The predicate of the indexes, to the letter. */
const isDeployment = `a.org_id = $1::uuid and a.type like 'started-%' and a.repo_ids <> '{}'`;

const inWindow = `a.created_at >= to_timestamp($2::float8) and a.created_at <= to_timestamp($3::float8)`;

/** Logical environments repeat what starts in their members. */
const isPhysical = `a.environment_id <> all (array(
  select id from environments where org_id = $1::uuid and archived = any ('{f,t}') and type = 'logical'))`;

/** Only these environments, which are physical; all when there are none. */
const inEnvironments = (parameter: string): string =>
  `(${parameter}::uuid[] is null or a.environment_id = any (${parameter}::uuid[]))`;

const newestFirst = (row: string): string =>
  `${row}.created_at desc, ${row}.environment_id desc, ${row}.id desc`;

/**
 * The deployments in `page`, with what they refer to, each of that once: flows and repos are shown by their present
 * names. A deployment is that of the first flow that has the repo: the one that built the artifact, as far as is known.
 */
const named = `page_flows as materialized (
      select p.*, known.flow, (known.flow ->> 'flow_id')::uuid as flow_id, known.flow -> 'deployment_diff' as diff
      from page p cross join lateral (
        select value as flow from json_array_elements(p.flows) with ordinality as each (value, position)
        where value ->> 'repo_id' = p.repo_ids[1]::text order by position limit 1) known
    ), flow_names as materialized (
      select id, name from flows where org_id = $1::uuid and id = any (array(select distinct flow_id from page_flows))
    ), page_repos as materialized (
      select id, json_build_object('name', name, 'repo_id', coalesce(repo_id, ''), 'provider', provider) as json
      from repos where org_id = $1::uuid and id = any (array(select distinct repo_ids[1] from page))
    ), page_environments as materialized (
      select id, name, type from environments
      where org_id = $1::uuid and id = any (array(select distinct environment_id from page))
    )`;

/** Seconds from the build of `a`, which is the first report of its fingerprint, until it was deployed. */
const leadTime = `greatest(epoch(a.created_at) - epoch((
  select b.created_at from artifacts b where b.org_id = $1::uuid and b.fingerprint = a.fingerprint
  order by b.id limit 1)), 0)`;

/**
 * The page as the text of a JSON array, from what is `named` there.
 * @param api the parameter that is the URL of the API.
 * @param org the parameter that is the name of the organization.
 */
function pageText(api: string, org: string): string {
  const link = (path: string): string => `json_build_object('href', ${api}::text || ${path})`;
  const inOrg = (kind: string): string => `'/${kind}/' || ${org}::text`;
  const item = `json_build_object(
    'deployed_at', epoch(a.created_at), 'environment_name', e.name, 'environment_type', e.type,
    'snapshot_index', a.first_index, 'artifact_name', a.name, 'fingerprint', a.fingerprint, 'compliant', a.compliant,
    'flow_name', f.name, 'trail_name', a.flow -> 'trail_name',
    'template_reference_name', a.flow -> 'template_reference_name', 'repo_info', r.json,
    'git_commit', a.flow -> 'git_commit', 'commit_url', a.flow -> 'commit_url',
    'git_commit_info', a.flow -> 'git_commit_info', 'lead_time_seconds', ${leadTime},
    'replaced_artifact', case when json_typeof(a.diff) = 'object' then json_build_object(
      'artifact_name', a.diff -> 'previous_artifact_name', 'fingerprint', a.diff -> 'previous_fingerprint',
      'trail_name', a.diff -> 'previous_trail_name', 'git_commit', a.diff -> 'previous_git_commit',
      'commit_url', a.diff -> 'previous_git_commit_url', 'diff_url', a.diff -> 'diff_url',
      'still_running', a.diff -> 'previous_running') end,
    '_links', json_build_object(
      'self', ${link(`${inOrg("deployments")} || '/' || e.name || '/' || a.fingerprint`)},
      'artifact', ${link(`${inOrg("artifacts")} || '/' || f.name || '/fingerprint/' || a.fingerprint`)},
      'snapshot', ${link(`${inOrg("snapshots")} || '/' || e.name || '/' || a.first_index`)}))`;
  return `(
    select coalesce('[' || string_agg(${item}::text, ',' order by ${newestFirst("a")}) || ']', '[]')
    from page_flows a
    join page_environments e on e.id = a.environment_id
    left join flow_names f on f.id = a.flow_id
    left join page_repos r on r.id = a.repo_ids[1]
  )`;
}

/**
 * A page of deployments and how many there are in the window.
 * @param keys a relation `key`: each of its rows has deployments of its own, in an index.
 * @param condition which those are, from `a` and `key`.
 */
function listStatement(name: string, keys: string, condition: string): PreparedStatement {
  const from = `snapshot_artifacts a where ${isDeployment} and ${inWindow} and ${condition}`;
  return {
    name,
    text: `
    with hits as materialized (
      select hit.* from ${keys} cross join lateral (
        select a.created_at, a.environment_id, a.id from ${from}
        order by ${newestFirst("a")} limit $4::bigint + $5::bigint) hit
      order by ${newestFirst("hit")} offset $4::bigint limit $5::bigint
    ), page as materialized (
      select a.* from hits join snapshot_artifacts a
        on a.org_id = $1::uuid and a.environment_id = hits.environment_id and a.id = hits.id
    ), ${named}
    select (
        select coalesce(sum(found.count), 0)::bigint from ${keys} cross join lateral (
          select count(*) as count from ${from}) found
      ) as total_count, ${pageText("$6", "$7")} as deployments`,
  };
}

/** All deployments of the organization. */
export const organizationList = listStatement("list-deployments", "(select) as key", isPhysical);

/** Those into environments: $8, physical ones. */
export const environmentsList = listStatement(
  "list-environment-deployments",
  "unnest($8::uuid[]) as key (id)",
  "a.environment_id = key.id",
);

/** Those of repos: $8, into environments: $9. */
export const reposList = listStatement(
  "list-repo-deployments",
  "unnest($8::uuid[]) as key (id)",
  `a.repo_ids[1] = key.id and ${isPhysical} and ${inEnvironments("$9")}`,
);

/** The latest deployment of the fingerprint $2 into any of the environments $3; $4 and $5 as $6 and $7 in lists. */
export const latest: PreparedStatement = {
  name: "deployment",
  text: `
    with page as materialized (
      select a.* from snapshot_artifacts a
      where ${isDeployment} and a.fingerprint = $2::text and a.environment_id = any ($3::uuid[])
      order by ${newestFirst("a")} limit 1
    ), ${named}
    select ${pageText("$4", "$5")} as deployments`,
};

/** Moments of deployments into the environments $4 in the window, oldest first; of the flow $5 unless it is null. */
export const frequency: PreparedStatement = {
  name: "deployment-times",
  text: `
    select coalesce(string_agg(epoch(created_at)::text, ',' order by created_at), '') as times,
      count(*)::bigint as total_count
    from unnest($4::uuid[]) as key (id) cross join lateral (
      select a.created_at from snapshot_artifacts a
      where ${isDeployment} and ${inWindow} and a.environment_id = key.id and ($5::uuid is null or exists (
        select from json_array_elements(a.flows) as known (flow) where flow ->> 'flow_id' = $5::uuid::text))
      offset 0) hit`,
};

/** Series of the deployments of the repo $4 in the window for each environment it reached, or each of $5. */
export const statistics: PreparedStatement = {
  name: "deployment-statistics",
  text: `
    with series as materialized (
      select a.environment_id, count(*) as count, json_agg(epoch(a.created_at) order by a.created_at, a.id) as deployed_at,
        json_agg(${leadTime} order by a.created_at, a.id) as lead_times
      from snapshot_artifacts a
      where ${isDeployment} and ${inWindow} and a.repo_ids[1] = $4::uuid and ${isPhysical} and ${inEnvironments("$5")}
      group by a.environment_id
    )
    select coalesce('[' || string_agg(json_build_object('environment_name', e.name, 'environment_type', e.type,
      'total_count', s.count, 'deployed_at', s.deployed_at, 'lead_time_seconds', s.lead_times)::text, ','
      order by e.name) || ']', '[]') as environments
    from series s join environments e on e.org_id = $1::uuid and e.id = s.environment_id`,
};

/** Ids of the physical environments that names mean: $2. Logical ones stand for their members, unknown ones for none. */
export const physicalIds: PreparedStatement = {
  name: "physical-environments",
  text: `
    select distinct coalesce(m.member_id, e.id) as id
    from unnest($2::text[]) as wanted (name)
    cross join lateral find_environment($1::uuid, wanted.name) found
    join environments e on e.org_id = $1::uuid and e.id = found.id and (not e.archived or found.by_name)
    left join environment_members m on m.org_id = $1::uuid and m.logical_id = e.id
    where e.type <> 'logical' or m.member_id is not null
    order by 1`,
};
