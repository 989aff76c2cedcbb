import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, integer, nullable, type RowOf, text, uuid } from "../../../db/row.ts";
import { constant, empty, jsonb, moment, param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { tagChoiceLimits, type TaggedKind, type Tags } from "../../../domain/tags.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** What to take away first and to put there then. */
interface TagChange {
  remove: readonly string[];
  set: Tags;
  at: Timestamp;
}

/** Tables whose rows carry tags. */
const tables: Record<TaggedKind, Sql> = {
  environment: raw("environments"),
  flow: raw("flows"),
  repo: raw("repos"),
  control: raw("controls"),
};

/** What leads to a row `r` at present; null where that is its id, which never changes. */
const presentNames: Record<TaggedKind, Sql> = {
  environment: raw("r.name"),
  flow: raw("r.name"),
  repo: raw("null::text"),
  control: raw("r.identifier"),
};

const tagged = {
  /** How many tags it has now. */
  count: integer,
  name: nullable(text),
};

/** Sets when the resource was modified; flows and controls do not show that. */
function modifiedAt(kind: TaggedKind, at: Timestamp): Sql {
  return kind === "flow" || kind === "control" ? empty : sql`, last_modified_at = ${moment(at)}`;
}

/**
 * Changes one resource's tags, in one statement.
 * @returns how many tags it has then, and what leads to it at present; undefined when it had exactly those already.
 */
export function updateTags(
  tx: Tx,
  orgId: string,
  { kind, id }: { kind: TaggedKind; id: string },
  change: TagChange,
): Promise<RowOf<typeof tagged> | undefined> {
  const changed = sql`(r.tags - ${change.remove}::text[]) || ${jsonb(change.set)}`;
  return tx.first(query(tagged)`
    update ${tables[kind]} as r set tags = ${changed}${modifiedAt(kind, change.at)}
    where r.org_id = ${orgId}::uuid and r.id = ${id}::uuid and r.tags <> ${changed}
    returning (select count(*)::int from jsonb_object_keys(r.tags)) as count, ${presentNames[kind]} as name`);
}

/** Says whether there is a repo of this id. */
export async function isRepo(db: Executor, orgId: string, id: string): Promise<boolean> {
  const row = await db.first(query({ id: uuid })`
    select id from repos where org_id = ${orgId} and id = ${id}`);
  return row !== undefined;
}

/** Finds the id behind a control's identifier. */
export async function findControlId(
  db: Executor,
  orgId: string,
  identifier: string,
): Promise<string | undefined> {
  const row = await db.first(query({ id: uuid })`
    select id from controls where org_id = ${orgId} and identifier = ${identifier}`);
  return row?.id;
}

/** Which tags: keys that begin with a text, or one key; and values that begin with a text. */
export type TagSearch = { values: string } & ({ keys: string } | { key: string });

/** Writes a condition that a column without a language's order begins with a text, as a range of its index. */
function beginsWith(column: Sql, text: string): Sql {
  const start = sql`${param(text)}::text`;
  return text === "" ? raw("true") : sql`(${column} >= ${start} and ${column} < ${start} || chr(1114111))`;
}

const tagChoices = {
  /** A JSON array. */
  tags: text,
  truncated: boolean,
};

/**
 * Lists the tags that resources of a kind have, by key and value, off their tallies: the index is asked for the next key, and
 * read for the values of each, so it costs what is answered, however many resources have them.
 */
export function listTagChoices(
  db: Executor,
  orgId: string,
  kind: TaggedKind,
  search: TagSearch,
): Promise<{ tags: string; truncated: boolean }> {
  const used = sql`tag_tallies u where u.org_id = ${param(orgId)}::uuid and u.kind = ${kind}`;
  const wanted = "key" in search ? sql`u.key = ${search.key}::text` : beginsWith(raw("u.key"), search.keys);
  const [keys, values] = [constant(tagChoiceLimits.keys), constant(tagChoiceLimits.valuesOfKey)];
  // What adds up to nothing was in use. It is rare, and no key and no value.
  const isUsed = (key: Sql, more: Sql): Sql => sql`exists (
      select from ${used} and u.key = ${key}${more} group by u.is_long, u.value having sum(u.uses) > 0)`;
  return db.one(query(tagChoices)`
    with recursive keys (key, is_used, n) as (
      (select first.key, ${isUsed(raw("first.key"), empty)}, 0 from (
        select u.key from ${used} and ${wanted} order by u.key limit 1) first)
      union all
      select next.key, ${isUsed(raw("next.key"), empty)}, keys.n + keys.is_used::integer from keys cross join lateral (
        select u.key from ${used} and ${wanted} and u.key > keys.key order by u.key limit 1) next
      where keys.n + keys.is_used::integer <= ${keys}
    )
    select coalesce(json_agg(json_build_object('key', keys.key, 'values', of_key.found, 'truncated', of_key.truncated)
        order by keys.key) filter (where keys.n < ${keys}), '[]')::text as tags,
      coalesce(max(keys.n), 0) >= ${keys} as truncated
    from keys cross join lateral (
      select coalesce(json_agg(value order by n) filter (where n <= ${values}), '[]') as found,
        coalesce(max(n), 0) > ${values} or ${isUsed(raw("keys.key"), raw(" and u.is_long"))} as truncated
      from (
        select u.value, row_number() over (order by u.value) as n from ${used} and u.key = keys.key and not u.is_long
          and ${beginsWith(raw("u.value"), search.values)}
        group by u.value having sum(u.uses) > 0 order by u.value limit ${values} + 1
      ) choices
    ) of_key
    where keys.is_used`);
}
