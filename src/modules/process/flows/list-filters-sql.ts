import { hasAnyTag, spacesBelow } from "../../../db/list-filters.ts";
import { empty, join, param, type Sql, sql } from "../../../db/sql.ts";
import type { Org } from "../../../domain/principal.ts";
import type { TagFilter } from "../../../domain/tags.ts";

/** Which flows. A filter that is absent lets everything through, an empty list nothing. */
export interface FlowFilter {
  /** Part of the name. */
  search: string | undefined;
  case_sensitive: boolean;
  /** Any of these spaces, or a space below one of them. */
  space_ids: readonly string[] | undefined;
  tags: TagFilter | undefined;
  /** Whether the archived ones are meant, in place of the others. */
  archived: boolean;
}

/** The organization in a statement, where each value stands in several places. */
export interface OrgValues {
  id: Sql;
  /** Its name as it stands in JSON, quotes included. */
  name: Sql;
  /** What is added to the JSON of each flow `f`: members as text, each after a comma. Undefined for nothing. */
  more?: Sql | undefined;
}

/** Makes the organization's values parameters. */
export function orgValues({ id, name }: Org): OrgValues {
  return { id: sql`${param(id)}::uuid`, name: sql`${param(JSON.stringify(name))}::text` };
}

/** Writes the condition that the flow `f` is the organization's and not archived. */
export function living(org: OrgValues): Sql {
  return sql`f.org_id = ${org.id} and f.archived_at is null`;
}

/** What was asked for, in SQL. */
export interface Filters {
  /** Condition on the row `f`. */
  where: Sql;
  /** Common table expression that the condition uses, with its comma. */
  with: Sql;
  /** Tells the text of one combination of filters from all others; empty when there are none. */
  shape: string;
}

/** Writes the conditions on flows: on living ones unless archived ones are asked for. */
export function filtersOf(
  org: OrgValues,
  { search, case_sensitive, space_ids, tags, archived }: FlowFilter,
): Filters {
  const where = [archived ? sql`f.org_id = ${org.id} and f.archived_at is not null` : living(org)];
  const shape: string[] = archived ? ["archived"] : [];
  if (search !== undefined) {
    where.push(
      case_sensitive
        ? sql`strpos(f.name, ${search}::text) > 0`
        : sql`strpos(lower(f.name), lower(${search}::text)) > 0`,
    );
    shape.push(case_sensitive ? "name" : "any-case");
  }
  if (space_ids !== undefined) {
    where.push(sql`f.space_id = any(array(select id from below))`);
    shape.push("space");
  }
  if (tags !== undefined) {
    where.push(hasAnyTag("f", tags));
    shape.push("tag");
  }
  return {
    where: join(where, " and "),
    with: space_ids === undefined ? empty : spacesBelow(org.id, space_ids),
    shape: shape.join("-"),
  };
}
