import type { Executor } from "../../../db/connect.ts";
import { heavyRows, isHeavy, type PageText, pageOf, pageText } from "../../../db/heavy-page.ts";
import { hasAnyTag } from "../../../db/list-filters.ts";
import { integer, nullable, text, texts, uuid } from "../../../db/row.ts";
import { constant, join, param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import type { TagFilter } from "../../../domain/tags.ts";
import { containsPattern } from "../../../lib/like.ts";
import type { PageSlice } from "../../../lib/paging.ts";
import { repoBytes } from "./bytes-sql.ts";
import { type RepoParts, reposWith } from "./parts-sql.ts";

/** Which repos; undefined matches all. */
export interface RepoListFilter {
  name?: string | undefined;
  /** Part of the name, in any case. */
  search?: string | undefined;
  provider?: string | undefined;
  repo_id?: string | undefined;
  vcs_instance?: string | undefined;
  /** Levels the namespace begins with. */
  namespace?: readonly string[] | undefined;
  tags?: TagFilter | undefined;
}

export interface RepoPage extends RepoListFilter, PageSlice {
  descending: boolean;
  /** URL of the organization's repos. */
  repos_url: string;
}

/** Writes the conditions on the row `r`. */
function conditions(orgId: string, filter: RepoListFilter): Sql {
  const all = [sql`r.org_id = ${orgId}`];
  if (filter.name !== undefined) all.push(sql`r.name = ${filter.name}`);
  if (filter.search !== undefined)
    // The column compares by code point, and that collation knows no letters beyond ASCII.
    all.push(sql`lower(r.name collate "default") like lower(${containsPattern(filter.search)}::text)`);
  if (filter.provider !== undefined) all.push(sql`r.provider = ${filter.provider}`);
  if (filter.repo_id !== undefined) all.push(sql`r.repo_id = ${filter.repo_id}`);
  if (filter.vcs_instance !== undefined) all.push(sql`r.vcs_instance = ${filter.vcs_instance}`);
  if (filter.namespace !== undefined)
    all.push(sql`r.namespace_path[1:${filter.namespace.length}::integer] = ${filter.namespace}::text[]`);
  if (filter.tags !== undefined) all.push(hasAnyTag("r", filter.tags));
  return join(all, " and ");
}

/** Writes a repo as JSON, from `r`. Its own link names it by id: names need not be unique. */
function repoJson(orgId: string, reposUrl: string): Sql {
  return sql`json_build_object(
    'id', wire_id(r.id), 'name', r.name, 'url', r.url, 'provider', r.provider, 'repo_id', r.repo_id,
    'description', r.description, 'vcs_instance', r.vcs_instance, 'namespace_path', r.namespace_path,
    'additional_info', r.additional_info, 'tags', r.tags, 'created_at', epoch(r.created_at),
    'last_modified_at', epoch(r.last_modified_at),
    'latest_activity', (
      select to_char(a.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from artifacts a
      where a.org_id = ${orgId} and a.repo_id = r.id order by a.id desc limit 1),
    '_links', json_build_object('self', json_build_object(
      'href', ${reposUrl}::text || '/' || wire_id(r.id) || '?id=' || wire_id(r.id))))`;
}

/** Reads one page of repos by name, and counts all repos that match. */
export async function listRepos(
  db: Executor,
  orgId: string,
  page: RepoPage,
): Promise<{ total_count: number; repos: PageText }> {
  const order = page.descending ? "r.name desc, r.id desc" : "r.name, r.id";
  const where = conditions(orgId, page);
  const heavy = isHeavy(sql`(select bytes from page_bytes)`);
  const { total_count, ...repos } = await db.one(query({ total_count: integer, ...pageText })`
    with page as materialized (
      select * from repos r where ${where} order by ${raw(order)} limit ${page.limit} offset ${page.offset}
    ), page_bytes as materialized (select sum(${repoBytes}) as bytes from page r)
    select (select count(*) from repos r where ${where}) as total_count,
      case when not ${heavy} then coalesce((
        select '[' || string_agg(${repoJson(orgId, page.repos_url)}::text, ',' order by ${raw(order)}) || ']'
        from page r), '[]') end as list,
      case when ${heavy} then (select ${heavyRows({ id: raw("r.id"), bytes: repoBytes, order })} from page r) end as heavy`);
  return { total_count, repos: pageOf(repos) };
}

/** Reads repos by their ids, in that order, as the text of a JSON array. */
export async function listReposById(
  db: Executor,
  orgId: string,
  { ids, repos_url }: { ids: readonly string[]; repos_url: string },
): Promise<string> {
  const { list } = await db.one(query({ list: text })`
    select coalesce('[' || string_agg(${repoJson(orgId, repos_url)}::text, ',' order by asked.place) || ']', '[]') as list
    from unnest(${ids}::uuid[]) with ordinality as asked (id, place)
    join repos r on r.org_id = ${orgId} and r.id = asked.id`);
  return list;
}

/** Reads the repo with this id, which must exist, as JSON text. */
export async function getRepo(
  db: Executor,
  orgId: string,
  { id, repos_url }: { id: string; repos_url: string },
): Promise<string> {
  const { repo } = await db.one(query({ repo: text })`
    select ${repoJson(orgId, repos_url)}::text as repo from repos r where r.org_id = ${orgId} and r.id = ${id}`);
  return repo;
}

/** Lists the ids of the repos that every given part fits. */
export async function listRepoIds(db: Executor, orgId: string, parts: RepoParts): Promise<string[]> {
  const { ids, shape } = reposWith(param(orgId), parts);
  const rows = await db.all(query(`list-repo-ids-${shape}`, { id: uuid }, { pipelined: true })`${ids}`);
  return rows.map(({ id }) => id);
}

export interface RepoIdentity {
  id: string;
  provider: string | null;
}

/** Lists repos with an id, or else with a name, at a provider if one is said; newest first. An id of null fits none. */
export function findRepos(
  db: Executor,
  orgId: string,
  asked: { id: string | null | undefined; name: string; provider: string | undefined },
): Promise<RepoIdentity[]> {
  const provider = param(asked.provider ?? null);
  return db.all(query("repos-by-name", { id: uuid, provider: nullable(text) }, { pipelined: true })`
    select id, provider from repos
    where org_id = ${orgId} and case when ${asked.id !== undefined} then id = ${asked.id ?? null}::uuid
      else name = ${asked.name} and (${provider}::text is null or provider = ${provider}) end
    order by created_at desc, id desc`);
}

/** Lists the ids of the repos with one of these names; several may share one. */
export function listReposNamed(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<{ id: string; name: string }[]> {
  return db.all(query({ id: uuid, name: text })`
    select id, name from repos where org_id = ${orgId} and name = any(${names}::text[])`);
}

/** Lists distinct pairs of key and value over the tags of all repos, by code point. */
export function listTagChoices(db: Executor, orgId: string): Promise<{ key: string; value: string }[]> {
  return db.all(query({ key: text, value: text })`
    select distinct tag.key collate "C" as key, tag.value collate "C" as value
    from repos r cross join lateral jsonb_each_text(r.tags) as tag
    where r.org_id = ${orgId} and r.tags <> '{}'
    order by 1, 2`);
}

export interface FilterOptions {
  providers: string[];
  vcs_instances: string[];
  namespace_values: string[];
}

/** Lists values that repos have, each list under the other filters; of namespaces the level below the one asked for. */
export function listFilterOptions(
  db: Executor,
  orgId: string,
  filter: RepoListFilter,
): Promise<FilterOptions> {
  const below = constant((filter.namespace?.length ?? 0) + 1);
  const distinct = (value: Sql, others: RepoListFilter): Sql => sql`
    array(select distinct ${value} from repos r where ${conditions(orgId, others)} and ${value} is not null order by 1)`;
  return db.one(query({ providers: texts, vcs_instances: texts, namespace_values: texts })`
    select
      ${distinct(sql`r.provider`, { ...filter, provider: undefined })} as providers,
      ${distinct(sql`r.vcs_instance`, { ...filter, vcs_instance: undefined })} as vcs_instances,
      ${distinct(sql`r.namespace_path[${below}] collate "C"`, filter)} as namespace_values`);
}
