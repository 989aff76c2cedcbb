import type { TagFilter } from "../../domain/tags.ts";

/** Which flows. A filter that is absent lets everything through, an empty list nothing. */
export interface FlowFilter {
  /** Part of the name. */
  search: string | undefined;
  case_sensitive: boolean;
  /** Any of these spaces, or a space below one of them. */
  space_ids: string[] | undefined;
  tags: TagFilter | undefined;
}

/** Whose flows, and what the replies call it. */
export interface Org {
  id: string;
  name: string;
}

/** Gathers the values of a statement and hands out their places. The organization comes first. */
export class Parameters {
  readonly values: unknown[];
  constructor(org: Org) {
    this.values = [org.id, JSON.stringify(org.name)];
  }
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}

/** The organization's id and, as it stands in JSON, its name. */
export const [orgId, orgName] = ["$1::uuid", "$2::text"];

/** Condition on the row `f`. */
export const living = `f.org_id = ${orgId} and f.archived_at is null`;

/** SQL for what was asked for. */
export interface Filters {
  /** Condition on the row `f`. */
  where: string;
  /** Common table expression that the condition uses, with its comma. */
  with: string;
  /** Tells the text of one combination of filters from all others; empty when there are none. */
  shape: string;
}

function searchCondition(search: string, caseSensitive: boolean): string {
  return caseSensitive ? `strpos(f.name, ${search}) > 0` : `strpos(lower(f.name), lower(${search})) > 0`;
}

function spacesBelow(roots: string): string {
  return `below (id) as (
    select s.id from spaces s where s.org_id = ${orgId} and s.id = any(${roots})
    union
    select s.id from spaces s join below on s.org_id = ${orgId} and s.parent_id = below.id
  ),`;
}

function tagCondition(parameters: Parameters, tags: TagFilter): string {
  const keys = parameters.add(tags.keys, "text[]");
  const pairs = tags.pairs.map(([key, value]) => JSON.stringify({ [key]: value }));
  return `(f.tags ?| ${keys} or f.tags @> any(${parameters.add(pairs, "jsonb[]")}))`;
}

/** The conditions on living flows, with their values added to the parameters. */
export function filtersOf(parameters: Parameters, filter: FlowFilter): Filters {
  const where = [living];
  const shape: string[] = [];
  const { search, case_sensitive, space_ids, tags } = filter;
  if (search !== undefined) {
    where.push(searchCondition(parameters.add(search, "text"), case_sensitive));
    shape.push(case_sensitive ? "name" : "any-case");
  }
  if (space_ids !== undefined) {
    where.push("f.space_id = any(array(select id from below))");
    shape.push("space");
  }
  if (tags !== undefined) {
    where.push(tagCondition(parameters, tags));
    shape.push("tag");
  }
  return {
    where: where.join(" and "),
    with: space_ids === undefined ? "" : spacesBelow(parameters.add(space_ids, "uuid[]")),
    shape: shape.join("-"),
  };
}
