import { type RawBuilder, sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { SortDirection } from "../../domain/environments.ts";
import type { TagFilter } from "../../domain/tags.ts";
import { type ControlRow, shownControl } from "./store.ts";

/** Which controls. */
export interface ControlFilter {
  archived: boolean;
  /** Part of the name or of the identifier, in any case. */
  search?: string | undefined;
  /** Any of these. */
  tags?: TagFilter | undefined;
}

/** Which part of a list, in which order. */
export interface ListPage {
  sort_direction: SortDirection;
  limit: number;
  offset: number;
}

function matching(orgId: string, filter: ControlFilter): RawBuilder<unknown> {
  const all = [sql`c.org_id = ${orgId}`, sql`c.archived = ${filter.archived}`];
  if (filter.search !== undefined) {
    // The columns compare by code point, and that collation knows no letters beyond ASCII.
    const found = (column: string): RawBuilder<unknown> =>
      sql`strpos(lower(${sql.ref(column)} collate "default"), lower(${filter.search}::text)) > 0`;
    all.push(sql`(${found("c.name")} or ${found("c.identifier")})`);
  }
  if (filter.tags !== undefined) {
    const pairs = filter.tags.pairs.map(([key, value]) => JSON.stringify({ [key]: value }));
    all.push(sql`(c.tags ?| ${filter.tags.keys}::text[] or c.tags @> any(${pairs}::jsonb[]))`);
  }
  return sql.join(all, sql` and `);
}

/** Some of the controls that match, by name. */
export async function listControls(
  db: Executor,
  orgId: string,
  filter: ControlFilter,
  page: ListPage,
): Promise<ControlRow[]> {
  const direction = sql.raw(page.sort_direction);
  const { rows } = await sql<ControlRow>`
    select ${shownControl} from controls c where ${matching(orgId, filter)}
    order by c.name ${direction}, c.identifier ${direction}
    limit ${page.limit}::bigint offset ${page.offset}::bigint`.execute(db);
  return rows;
}

/** How many controls match. */
export async function countControls(db: Executor, orgId: string, filter: ControlFilter): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from controls c where ${matching(orgId, filter)}`.execute(db);
  return rows[0]!.total;
}

/** Distinct pairs of key and value over the tags of all controls, by code point. */
export async function listTagChoices(db: Executor, orgId: string): Promise<{ key: string; value: string }[]> {
  const { rows } = await sql<{ key: string; value: string }>`
    select distinct tag.key collate "C" as key, tag.value collate "C" as value
    from controls c cross join lateral jsonb_each_text(c.tags) as tag
    where c.org_id = ${orgId}
    order by 1, 2`.execute(db);
  return rows;
}
