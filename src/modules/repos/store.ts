import { type RawBuilder, sql } from "kysely";

import type { Executor, PreparedExecutor, PreparedStatement } from "../../db/connect.ts";
import { Parameters } from "../../db/list-statement.ts";

/** Which repos; undefined matches all. */
export interface RepoListFilter {
  name?: string | undefined;
  /** Part of the name, in any case. */
  search?: string | undefined;
  provider?: string | undefined;
  repo_id?: string | undefined;
  vcs_instance?: string | undefined;
  /** Levels the namespace begins with. */
  namespace?: string[] | undefined;
  /** `key` or `key:value`, any of them. */
  tags?: string[] | undefined;
}

export interface RepoPage extends RepoListFilter {
  descending: boolean;
  offset: number;
  limit: number;
  /** URL of the organization's repos. */
  repos_url: string;
}

function likePattern(part: string): string {
  return `%${part.replaceAll(/[\\%_]/g, "\\$&")}%`;
}

function tagCondition(tag: string): RawBuilder<unknown> {
  const colon = tag.indexOf(":");
  if (colon === -1) return sql`r.tags ? ${tag}::text`;
  return sql`r.tags @> jsonb_build_object(${tag.slice(0, colon)}::text, ${tag.slice(colon + 1)}::text)`;
}

function conditions(orgId: string, filter: RepoListFilter): RawBuilder<unknown> {
  const all = [sql`r.org_id = ${orgId}`];
  if (filter.name !== undefined) all.push(sql`r.name = ${filter.name}`);
  if (filter.search !== undefined)
    all.push(sql`lower(r.name) like lower(${likePattern(filter.search)}::text)`);
  if (filter.provider !== undefined) all.push(sql`r.provider = ${filter.provider}`);
  if (filter.repo_id !== undefined) all.push(sql`r.repo_id = ${filter.repo_id}`);
  if (filter.vcs_instance !== undefined) all.push(sql`r.vcs_instance = ${filter.vcs_instance}`);
  if (filter.namespace !== undefined)
    all.push(sql`r.namespace_path[1:${filter.namespace.length}::integer] = ${filter.namespace}::text[]`);
  if (filter.tags !== undefined) all.push(sql`(${sql.join(filter.tags.map(tagCondition), sql` or `)})`);
  return sql.join(all, sql` and `);
}

/** A repo as JSON, from `r`. Its own link names it by id: names need not be unique. */
function item(reposUrl: string): RawBuilder<unknown> {
  return sql`json_build_object(
    'id', wire_id(r.id), 'name', r.name, 'url', r.url, 'provider', r.provider, 'repo_id', r.repo_id,
    'description', r.description, 'vcs_instance', r.vcs_instance, 'namespace_path', r.namespace_path,
    'additional_info', r.additional_info, 'tags', r.tags, 'created_at', epoch(r.created_at),
    'last_modified_at', epoch(r.last_modified_at),
    'latest_activity', (
      select to_char(a.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from artifacts a
      where a.org_id = r.org_id and a.repo_id = r.id order by a.id desc limit 1),
    '_links', json_build_object('self', json_build_object(
      'href', ${reposUrl}::text || '/' || wire_id(r.id) || '?id=' || wire_id(r.id))))`;
}

/** One page of repos by name as the text of a JSON array, with the number of repos that fit. */
export async function listRepos(
  db: Executor,
  orgId: string,
  query: RepoPage,
): Promise<{ total_count: number; repos: string }> {
  const order = query.descending ? sql`r.name desc, r.id desc` : sql`r.name, r.id`;
  const where = conditions(orgId, query);
  const { rows } = await sql<{ total_count: number; repos: string }>`
    with page as materialized (
      select * from repos r where ${where} order by ${order} limit ${query.limit} offset ${query.offset}
    )
    select (select count(*) from repos r where ${where}) as total_count,
      coalesce((select '[' || string_agg(${item(query.repos_url)}::text, ',' order by ${order}) || ']'
        from page r), '[]') as repos`.execute(db);
  return rows[0]!;
}

/** The repo with this id as JSON text; it must exist. */
export async function getRepo(
  db: Executor,
  orgId: string,
  repo: { id: string; repos_url: string },
): Promise<string> {
  const { rows } = await sql<{ repo: string }>`
    select ${item(repo.repos_url)}::text as repo from repos r where r.org_id = ${orgId} and r.id = ${repo.id}`.execute(
    db,
  );
  return rows[0]!.repo;
}

export interface RepoIdentity {
  id: string;
  provider: string | null;
}

/** Parts of what identifies repos; parts that are undefined do not matter. `id` is the internal one; null fits none. */
export interface RepoParts {
  id: string | null | undefined;
  repo_id: string | undefined;
  name: string | undefined;
}

const partTypes = { id: "uuid", repo_id: "text", name: "text" } as const;

/**
 * SQL for the ids of the repos of the organization $1 that every given part fits, and a name for it: which parts are
 * given, since each text finds them by an index.
 */
export function reposWith(parts: RepoParts, parameters: Parameters): { sql: string; shape: string } {
  const given = (["id", "repo_id", "name"] as const).filter((part) => parts[part] !== undefined);
  const conditions = given.map((part) => ` and ${part} = ${parameters.add(parts[part], partTypes[part])}`);
  return {
    sql: `select id from repos where org_id = $1${conditions.join("")} order by id`,
    shape: given.join("-").replace("_", "-"),
  };
}

/** Ids of the repos that every given part fits. */
export async function listRepoIds(db: PreparedExecutor, orgId: string, parts: RepoParts): Promise<string[]> {
  const parameters = new Parameters(orgId);
  const { sql: text, shape } = reposWith(parts, parameters);
  const statement = { name: `list-repo-ids-${shape}`, text, brief: true } as const;
  return (await db.prepared<{ id: string }>(statement, parameters.values)).map(({ id }) => id);
}

const reposByName: PreparedStatement = {
  name: "repos-by-name",
  brief: true,
  text: `
    select id, provider from repos
    where org_id = $1 and case when $2 then id = $3::uuid
      else name = $4 and ($5::text is null or provider = $5) end
    order by created_at desc, id desc`,
};

/** Repos with an id, or else with a name, at a provider if one is said; newest first. An id of null fits none. */
export function findRepos(
  db: PreparedExecutor,
  orgId: string,
  asked: { id: string | null | undefined; name: string; provider: string | undefined },
): Promise<RepoIdentity[]> {
  const values = [orgId, asked.id !== undefined, asked.id ?? null, asked.name, asked.provider ?? null];
  return db.prepared<RepoIdentity & Record<string, unknown>>(reposByName, values);
}

/** Ids of the repos with one of these names; several may share one. */
export function listReposNamed(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom("repos")
    .select(["id", "name"])
    .where("org_id", "=", orgId)
    .where((where) => where("name", "=", where.fn.any(where.val(names))))
    .execute();
}

/** Distinct pairs of key and value over the tags of all repos, by code point. */
export async function listTagChoices(db: Executor, orgId: string): Promise<{ key: string; value: string }[]> {
  const { rows } = await sql<{ key: string; value: string }>`
    select distinct tag.key collate "C" as key, tag.value collate "C" as value
    from repos r cross join lateral jsonb_each_text(r.tags) as tag
    where r.org_id = ${orgId} and r.tags <> '{}'
    order by 1, 2`.execute(db);
  return rows;
}

export interface FilterOptions {
  providers: string[];
  vcs_instances: string[];
  namespace_values: string[];
}

/** Values that repos have, each list under the other filters; of namespaces the level below the one asked for. */
export async function listFilterOptions(
  db: Executor,
  orgId: string,
  filter: RepoListFilter,
): Promise<FilterOptions> {
  const below = (filter.namespace?.length ?? 0) + 1;
  const distinct = (value: RawBuilder<unknown>, others: RepoListFilter): RawBuilder<unknown> => sql`
    array(select distinct ${value} from repos r where ${conditions(orgId, others)} and ${value} is not null order by 1)`;
  const { rows } = await sql<FilterOptions>`
    select
      ${distinct(sql`r.provider`, { ...filter, provider: undefined })} as providers,
      ${distinct(sql`r.vcs_instance`, { ...filter, vcs_instance: undefined })} as vcs_instances,
      ${distinct(sql`r.namespace_path[${sql.lit(below)}] collate "C"`, filter)} as namespace_values`.execute(
    db,
  );
  return rows[0]!;
}
