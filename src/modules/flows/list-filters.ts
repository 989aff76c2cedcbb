import { Parameters, spacesBelow, tagCondition } from "../../db/list-statement.ts";
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

/** A statement's parameters. The organization comes first. */
export function parametersOf(org: Org): Parameters {
  return new Parameters(org.id, JSON.stringify(org.name));
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
    where.push(tagCondition(parameters, "f", tags));
    shape.push("tag");
  }
  return {
    where: where.join(" and "),
    with: space_ids === undefined ? "" : spacesBelow(orgId, parameters.add(space_ids, "uuid[]")),
    shape: shape.join("-"),
  };
}
