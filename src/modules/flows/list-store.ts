import { type RawBuilder, sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A flow as it is shown, but for the organization's name. */
export interface ShownFlowRow {
  id: string;
  name: string;
  description: string;
  visibility: "public" | "private";
  template: string;
  repo_url: string;
  tags: Record<string, string>;
  space_id: string | null;
  created_at: Timestamp;
  created_by: string;
}

/** The repo of the latest artifact of `f`. */
const repoUrl = sql`coalesce((
    select coalesce(nullif(a.repo_url, ''), (
      select r.url from repos r where r.org_id = a.org_id and r.id = a.repo_id))
    from artifacts a
    where a.org_id = f.org_id and a.flow_id = f.id order by a.id desc limit 1
  ), '')`;

const shown = sql`wire_id(f.id) as id, f.name, f.description, f.visibility, f.template, f.tags,
  wire_id(f.space_id) as space_id, f.created_at, f.created_by_name as created_by, ${repoUrl} as repo_url`;

/** The flow with this id, which must exist. */
export async function getShownFlow(db: Executor, orgId: string, id: string): Promise<ShownFlowRow> {
  const { rows } = await sql<ShownFlowRow>`
    select ${shown} from flows f where f.org_id = ${orgId} and f.id = ${id}`.execute(db);
  return rows[0]!;
}

export interface FlowFilter {
  /** Part of the name. */
  search: string | undefined;
  case_sensitive: boolean;
  /** Any of these spaces, or a space below one of them. */
  space_ids: string[] | undefined;
  /** Any of these. */
  tags: { keys: string[]; pairs: Record<string, string>[] } | undefined;
}

export interface FlowOrder {
  sort: "name" | "latest_activity";
  sort_direction: "asc" | "desc";
}

function conditions(filter: FlowFilter): RawBuilder<unknown>[] {
  const found: RawBuilder<unknown>[] = [sql`f.archived_at is null`];
  if (filter.search !== undefined)
    found.push(
      filter.case_sensitive
        ? sql`strpos(f.name, ${filter.search}::text) > 0`
        : sql`strpos(lower(f.name), lower(${filter.search}::text)) > 0`,
    );
  if (filter.space_ids !== undefined) found.push(sql`f.space_id in (select id from wanted_spaces)`);
  if (filter.tags !== undefined) {
    const pairs = filter.tags.pairs.map((pair) => JSON.stringify(pair));
    found.push(sql`(f.tags ?| ${filter.tags.keys}::text[] or exists (
      select 1 from unnest(${pairs}::text[]) as pair where f.tags @> pair::jsonb))`);
  }
  return found;
}

function spaces(orgId: string, filter: FlowFilter): RawBuilder<unknown> {
  if (filter.space_ids === undefined) return sql``;
  return sql`recursive wanted_spaces as (
    select s.id from spaces s where s.org_id = ${orgId} and s.id = any(${filter.space_ids}::uuid[])
    union
    select s.id from spaces s join wanted_spaces w on s.parent_id = w.id where s.org_id = ${orgId}
  ),`;
}

function ordering(order: FlowOrder): RawBuilder<unknown> {
  const direction = order.sort_direction === "desc" ? sql`desc` : sql`asc`;
  return order.sort === "name"
    ? sql`f.name ${direction}, f.id`
    : sql`latest_activity_at ${direction} nulls last, f.name, f.id`;
}

/** Lists without filters are asked for most: each has a name, and so is planned once. */
function listName(filter: FlowFilter, order: FlowOrder, paged: boolean): RawBuilder<unknown> {
  const { search, space_ids, tags } = filter;
  if (search !== undefined || space_ids !== undefined || tags !== undefined) return sql``;
  const sort = order.sort.replace("_", "-");
  return sql.raw(`/* ${paged ? "page" : "all"}-of-flows-by-${sort}-${order.sort_direction} */`);
}

/** Flows as JSON text. */
export interface FlowPage {
  /** An array. */
  flows: string;
  /** How many there are in all. */
  total: number;
}

/**
 * Flows that are not archived and match every filter, in order; all of them, or some from an offset on. One statement:
 * the flows are found first, and only those on the page are looked at closer.
 */
export async function listFlows(
  db: Executor,
  org: { id: string; name: string },
  filter: FlowFilter,
  order: FlowOrder & { limit?: number; offset?: number },
): Promise<FlowPage> {
  const paged = order.limit !== undefined;
  const page = paged ? sql`limit ${order.limit}::bigint offset ${order.offset ?? 0}::bigint` : sql``;
  const matching = sql`f.org_id = ${org.id} and ${sql.join(conditions(filter), sql` and `)}`;
  const { rows } = await sql<FlowPage>`${listName(filter, order, paged)}
    with ${spaces(org.id, filter)} page as materialized (
      select f.*, latest.last_modified_at as latest_activity_at, latest.trail_id
      from flows f left join flow_activity latest on latest.org_id = f.org_id and latest.flow_id = f.id
      where ${matching} order by ${ordering(order)} ${page}
    )
    select ${paged ? sql`(select count(*) from flows f where ${matching})` : sql`count(*)`} as total,
      coalesce('[' || string_agg(json_build_object(
        'id', wire_id(f.id), 'name', f.name, 'description', f.description, 'visibility', f.visibility,
        'org', ${org.name}::text, 'template', f.template, 'repo_url', ${repoUrl}, 'tags', f.tags,
        'space_id', wire_id(f.space_id), 'created_at', epoch(f.created_at), 'created_by', f.created_by_name,
        'latest_activity_at', epoch(f.latest_activity_at), 'latest_state', (
          select c.state from trail_compliance c where c.org_id = f.org_id and c.trail_id = f.trail_id)
      )::text, ',' order by ${ordering(order)}) || ']', '[]') as flows
    from page f`.execute(db);
  return rows[0]!;
}
