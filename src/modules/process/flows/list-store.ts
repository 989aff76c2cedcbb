import type { Database, Executor } from "../../../db/connect.ts";
import {
  idList,
  idText,
  lightEnough,
  listInSlices,
  readInSlices,
  slice,
  type SlicedList,
} from "../../../db/id-list.ts";
import { integer, json, nullable, oneOf, type RowOf, text, timestamp } from "../../../db/row.ts";
import { rowById } from "../../../db/row-by-id.ts";
import { sliceSql } from "../../../db/slice-sql.ts";
import { empty, join, param, type Query, query, type Sql, sql } from "../../../db/sql.ts";
import type { Org } from "../../../domain/principal.ts";
import type { Tags } from "../../../domain/tags.ts";
import { leftOutMark } from "../../../lib/left-out.ts";
import type { PageSlice } from "../../../lib/paging.ts";
import { type FlowFilter, type Filters, filtersOf, type OrgValues, orgValues } from "./list-filters-sql.ts";
import {
  archiving,
  flowColumns,
  flowJson,
  type FlowOrder,
  latestTrails,
  orderBy,
  planPage,
  withActivity,
} from "./list-sql.ts";

/** A flow as it is shown, but for the organization's name. */
const shownFlow = {
  /** On the wire. */
  id: text,
  name: text,
  description: text,
  visibility: oneOf(["public", "private"]),
  template: text,
  repo_url: text,
  tags: json<Tags>(),
  /** On the wire. */
  space_id: nullable(text),
  created_at: timestamp,
  created_by: text,
};

export type ShownFlowRow = RowOf<typeof shownFlow>;

/** Selects what was said about the repo of `f`, else that of its latest artifact. */
function repoUrl(orgId: string): Sql {
  return sql`coalesce(f.repo_url, (
    select coalesce(nullif(a.repo_url, ''), (
      select r.url from repos r where r.org_id = ${orgId} and r.id = a.repo_id))
    from artifacts a
    where a.org_id = ${orgId} and a.flow_id = f.id order by a.id desc limit 1
  ), '')`;
}

/** Reads the flow with this id, which must exist. */
export function getShownFlow(db: Executor, orgId: string, id: string): Promise<ShownFlowRow> {
  return db.one(query(shownFlow)`
    select wire_id(f.id) as id, f.name, f.description, f.visibility, f.template, f.tags,
      wire_id(f.space_id) as space_id, f.created_at, f.created_by_name as created_by, ${repoUrl(orgId)} as repo_url
    from flows f where f.org_id = ${orgId} and f.id = ${id}`);
}

/** What reads pages, and large flows. */
type Reading = Pick<Database, "one" | "sliced">;

/** Flows as JSON text. */
export interface FlowPage {
  /** An array or, where some are large, arrays that follow each other. */
  flows: string | AsyncIterable<string>;
  /** How many there are in all. */
  total: number;
}

const flowPage = {
  total: integer,
  /** Texts of flows with commas between them, large ones as their ids. */
  flows: nullable(text),
  /** More of them, which follow. */
  rest: nullable(text),
};

/** What is shown of flows beside what is always. */
export interface FlowExtras {
  /** Address of the pages of the organization's flows, to show the newest trails of each; undefined for none. */
  trail_pages?: string | undefined;
}

/** Makes the organization's values parameters, with what the list shows of flows beside. */
function listValues(org: Org, { archived }: FlowFilter, { trail_pages }: FlowExtras): OrgValues {
  const values = orgValues(org);
  const more = [
    ...(trail_pages === undefined ? [] : [latestTrails(values, sql`${param(trail_pages)}::text`)]),
    ...(archived ? [archiving] : []),
  ];
  return { ...values, more: more.length === 0 ? undefined : join(more, " || ") };
}

/**
 * Reads one page, of at most 100, of the flows that match every filter: of those that are not archived, unless archived
 * ones are asked for. One statement, and more while it is sent where flows are large.
 */
export async function listFlowPage(
  db: Reading,
  org: Org,
  filter: FlowFilter,
  page: FlowOrder & PageSlice & FlowExtras,
): Promise<FlowPage> {
  const { total, flows, rest } = await db.one(pageOfFlows(org, filter, page));
  const texts = flows && rest ? `${flows},${rest}` : (flows ?? rest ?? "");
  if (!texts.includes(leftOutMark)) return { flows: `[${texts}]`, total };
  return { flows: withLargeFlows(db, texts, sliceOf(listValues(org, filter, page), filter, page)), total };
}

/** Ids that follow each other, with the commas around them. */
const idsBetween = new RegExp(`,?((?:${leftOutMark}[0-9a-f-]{36},?)+)`);

/** Reads the large flows of a page, each when its turn comes. */
async function* withLargeFlows(
  db: Reading,
  texts: string,
  slices: SlicedList["slice"],
): AsyncGenerator<string> {
  for (const [at, part] of texts.split(idsBetween).entries())
    if (at % 2 === 0) yield `[${part}]`;
    else
      for await (const items of readInSlices(db, part.replaceAll(/[^0-9a-f-]/g, ""), slices))
        yield `[${items}]`;
}

/** Selects one page. There is one text for each order and combination of filters. */
function pageOfFlows(
  org: Org,
  filter: FlowFilter,
  { limit, offset, trail_pages, ...order }: FlowOrder & PageSlice & FlowExtras,
): Query<RowOf<typeof flowPage>> {
  const rows = sliceSql({ limit, offset });
  const isFirst = rows.offset === undefined;
  const values = listValues(org, filter, { trail_pages });
  const filters = filtersOf(values, filter);
  const plan = planPage({ org: values, filters, order }, rows);
  const part = `${isFirst ? "first" : "page"}${trail_pages === undefined ? "" : "-trails"}`;
  const isBrief = isFirst && filters.shape === "" && trail_pages === undefined;
  return query(statementName(part, order, filters), flowPage, isBrief ? { pipelined: true } : {})`
    ${plan.with === undefined ? empty : sql`with recursive ${plan.with}`}
    select coalesce(${plan.total}, 0) as total, ${plan.flows} as flows, ${plan.rest ?? sql`null`} as rest`;
}

/** Names a statement by everything that makes its text another one. */
function statementName(part: string, { sort, sort_direction }: FlowOrder, { shape }: Filters): string {
  return `flows-${part}-${sort === "name" ? "name" : "activity"}-${sort_direction}-${shape}`;
}

/** Reads all flows that match every filter, likewise, as texts of some each, with commas between these. */
export function listFlows(
  db: Database,
  org: Org,
  filter: FlowFilter,
  order: FlowOrder,
): Promise<AsyncGenerator<string>> {
  return listInSlices(db, allFlows(org, filter, order));
}

function allFlows(org: Org, filter: FlowFilter, order: FlowOrder): SlicedList {
  const values = listValues(org, filter, {});
  const filters = filtersOf(values, filter);
  const ordering = orderBy(order, { name: "f.name", active: "a.last_modified_at" });
  return {
    ids: query(statementName("all", order, filters), idList)`
      with recursive ${filters.with} always as (select true)
      select ${idText("f.id", ordering)} as ids
      from flows f left join flow_activity a on a.org_id = ${values.id} and a.flow_id = f.id where ${filters.where}`,
    slice: sliceOf(values, filter, {}),
  };
}

/** Reads some flows by their ids, as many as are not too much at once. */
function sliceOf(
  values: OrgValues,
  { archived }: FlowFilter,
  { trail_pages }: FlowExtras,
): SlicedList["slice"] {
  const name = `flows-slice${archived ? "-archived" : ""}${trail_pages === undefined ? "" : "-trails"}`;
  return (ids) => query(name, slice)`
    select string_agg(${flowJson(values)}, ',' order by f.place) as items, max(f.place) as last
    from (
      select asked.*, sum(asked.own_bytes) over (order by asked.place) as bytes from (
        select ${flowColumns}, asked.place
        from unnest(${ids}::uuid[]) with ordinality as asked (id, place)
        ${rowById("flows", "f", values.id, "asked.id")}
        ${withActivity(values)}) asked) f
    where ${archived ? sql`f.archived_at is not null` : sql`f.archived_at is null`} and ${lightEnough("f")}`;
}
