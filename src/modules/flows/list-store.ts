import { type RawBuilder, sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { ComplianceState } from "../../domain/compliance/model.ts";
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

export interface ListedFlowRow extends ShownFlowRow {
  latest_activity_at: Timestamp | null;
  /** Of the trail last reported to. */
  latest_state: ComplianceState | null;
}

const shown = sql`wire_id(f.id) as id, f.name, f.description, f.visibility, f.template, f.tags,
  wire_id(f.space_id) as space_id, f.created_at, f.created_by_name as created_by,
  coalesce((
    select coalesce(nullif(a.repo_url, ''), r.url) from artifacts a
    left join repos r on r.org_id = a.org_id and r.id = a.repo_id
    where a.org_id = f.org_id and a.flow_id = f.id order by a.id desc limit 1
  ), '') as repo_url`;

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
  return sql`with recursive wanted_spaces as (
    select s.id from spaces s where s.org_id = ${orgId} and s.id = any(${filter.space_ids ?? []}::uuid[])
    union
    select s.id from spaces s join wanted_spaces w on s.parent_id = w.id where s.org_id = ${orgId}
  )`;
}

function ordering(order: FlowOrder): RawBuilder<unknown> {
  const direction = order.sort_direction === "desc" ? sql`desc` : sql`asc`;
  return order.sort === "name"
    ? sql`f.name ${direction}, f.id`
    : sql`latest_activity_at ${direction} nulls last, f.name, f.id`;
}

/** Flows that are not archived and match every filter, in order; all of them, or some from an offset on. */
export async function listFlows(
  db: Executor,
  orgId: string,
  filter: FlowFilter,
  order: FlowOrder & { limit?: number; offset?: number },
): Promise<ListedFlowRow[]> {
  const page =
    order.limit === undefined ? sql`` : sql`limit ${order.limit}::bigint offset ${order.offset ?? 0}::bigint`;
  const { rows } = await sql<ListedFlowRow>`
    ${spaces(orgId, filter)}
    select ${shown}, latest.last_modified_at as latest_activity_at, latest.state as latest_state
    from flows f left join lateral (
      select t.last_modified_at, (
        select c.state from trail_compliance c where c.org_id = t.org_id and c.trail_id = t.id) as state
      from trails t where t.org_id = f.org_id and t.flow_id = f.id
      order by t.last_modified_at desc, t.id desc limit 1
    ) latest on true
    where f.org_id = ${orgId} and ${sql.join(conditions(filter), sql` and `)}
    order by ${ordering(order)} ${page}`.execute(db);
  return rows;
}

/** How many flows `listFlows` has in all. */
export async function countFlows(db: Executor, orgId: string, filter: FlowFilter): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    ${spaces(orgId, filter)}
    select count(*) as total from flows f
    where f.org_id = ${orgId} and ${sql.join(conditions(filter), sql` and `)}`.execute(db);
  return rows[0]!.total;
}
