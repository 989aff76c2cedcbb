import type { TagFilter } from "../domain/tags.ts";
import type { PreparedStatement } from "./connect.ts";

/** Gathers the values of a statement and hands out their places. */
export class Parameters {
  readonly values: unknown[];

  /** @param first values that have the first places, whose types the statement says itself. */
  constructor(...first: unknown[]) {
    this.values = first;
  }

  /** @returns the value's place, as SQL of this type. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}

/** A statement with its values, for running it or for looking at its plan. */
export interface Bound {
  statement: PreparedStatement;
  values: unknown[];
}

/**
 * SQL for a recursive common table expression with its comma: `below` has the ids of these spaces and of all below them.
 * @param org SQL for the organization's id.
 * @param roots SQL for an array of ids.
 */
export function spacesBelow(org: string, roots: string): string {
  return `below (id) as (
    select s.id from spaces s where s.org_id = ${org} and s.id = any(${roots})
    union
    select s.id from spaces s join below on s.org_id = ${org} and s.parent_id = below.id
  ),`;
}

/** SQL for whether the row of this alias has any of the tags. */
export function tagCondition(parameters: Parameters, alias: string, tags: TagFilter): string {
  const keys = parameters.add(tags.keys, "text[]");
  const pairs = parameters.add(
    tags.pairs.map(([key, value]) => JSON.stringify({ [key]: value })),
    "jsonb[]",
  );
  return `(${alias}.tags ?| ${keys} or ${alias}.tags @> any(${pairs}))`;
}
