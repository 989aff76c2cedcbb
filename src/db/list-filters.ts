import type { TagFilter, TaggedKind } from "../domain/tags.ts";
import { raw, type Sql, sql } from "./sql.ts";

/**
 * Writes a recursive common table expression with its comma: `below` has the ids of these spaces and of all below them.
 * @param org the organization's id.
 * @param roots ids of spaces.
 */
export function spacesBelow(org: Sql, roots: readonly string[]): Sql {
  return sql`below (id) as (
    select s.id from spaces s where s.org_id = ${org} and s.id = any(${roots}::uuid[])
    union
    select s.id from spaces s join below on s.org_id = ${org} and s.parent_id = below.id
  ),`;
}

/** Writes the condition that the row of this alias has any of the tags. */
export function hasAnyTag(alias: string, { keys, pairs }: TagFilter): Sql {
  const wanted = pairs.map(([key, value]) => JSON.stringify({ [key]: value }));
  const tags = raw(`${alias}.tags`);
  return sql`(${tags} ?| ${keys}::text[] or ${tags} @> any(${wanted}::jsonb[]))`;
}

/** Characters of a value up to which it is in the index of tags: as `choosable` has it in the database. */
const mostIndexed = 256;

/** Says whether the index of tags knows all that a filter asks for. */
export function isIndexed({ pairs }: TagFilter): boolean {
  return pairs.every(([, value]) => value.length <= mostIndexed);
}

/** Writes a condition that the row of this alias, of a table of tags, is of a kind of resource. */
function ofKind(alias: string, org: Sql, kind: TaggedKind): Sql {
  return sql`${raw(alias)}.org_id = ${org} and ${raw(alias)}.kind = ${raw(`'${kind}'`)}`;
}

/**
 * Selects the ids of live resources that have any of these tags, as `id`: some of them more than once. Read off an index, however
 * many have them.
 */
export function holdersOfTags(org: Sql, kind: TaggedKind, { keys, pairs }: TagFilter): Sql {
  const holders = sql`select u.resource_id as id from tags_in_use u where ${ofKind("u", org, kind)}`;
  const values = pairs.map(([, value]) => value);
  // Without "offset 0" the planner may read all tags instead.
  return sql`select of_key.id from unnest(${keys}::text[]) as asked (key)
    cross join lateral (${holders} and u.key = asked.key offset 0) of_key
    union all
    select of_pair.id from unnest(${pairs.map(([key]) => key)}::text[], ${values}::text[]) as asked (key, value)
    cross join lateral (${holders} and u.key = asked.key and u.value = asked.value offset 0) of_pair`;
}

/** Selects how many live resources of a kind have a tag; undefined for several, which one resource may have. */
export function usesOfTag(org: Sql, kind: TaggedKind, { keys, pairs }: TagFilter): Sql | undefined {
  const uses = sql`select coalesce(sum(uses), 0) from tag_tallies u where ${ofKind("u", org, kind)}`;
  const [key, ...moreKeys] = keys;
  const [pair, ...morePairs] = pairs;
  if (moreKeys.length + morePairs.length > 0 || (key === undefined) === (pair === undefined))
    return undefined;
  if (pair === undefined) return sql`(${uses} and u.key = ${key ?? ""}::text)`;
  return sql`(${uses} and u.key = ${pair[0]}::text and not u.is_long and u.value = ${pair[1]}::text)`;
}
