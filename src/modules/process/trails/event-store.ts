import type { Database, Executor } from "../../../db/connect.ts";
import { json, nullable, type RowOf, text, timestamp } from "../../../db/row.ts";
import { constant, query, raw } from "../../../db/sql.ts";
import { nilId } from "../../../lib/ids.ts";
import { eventKeys, eventOfKey, everyTrailEvent } from "./event-sql.ts";

const trailEvent = {
  type: text,
  occurred_at: timestamp,
  /** What is particular to its type, and `git_commit_info`. */
  data: json<unknown>(),
  /** JSON text of the repo it came from, whose `additional_info` an object would not keep as it was written. */
  repo_info: nullable(text),
};

/** An event of a trail. */
export type TrailEventRow = RowOf<typeof trailEvent>;

/** Lists everything that happened to a short trail and was reported on it, in the order in which it happened. */
export function listTrailEvents(db: Executor, orgId: string, trailId: string): Promise<TrailEventRow[]> {
  return db.all(query("trail-events", trailEvent)`
    select occurred_at, type, data, repo_info::text as repo_info from (${everyTrailEvent(orgId, trailId)}) e
    order by occurred_at, id, part`);
}

/** Characters of a key: what kind of row, its id, whether it is a reattestation, its part, and the id of its artifact. */
const keyLength = 1 + 36 + 1 + 6 + 36;

/** Digits of the bytes of an event, which stand behind its key: more than so many are taken for as many as these can tell. */
const digits = 8;
const recordLength = keyLength + digits;

const noArtifact = raw(`'${nilId}'`);

/** Lists the events of a trail by their keys, each with its bytes, as one text in their order: few bytes for each, however large it is. */
export async function listEventKeys(db: Executor, orgId: string, trailId: string): Promise<string> {
  const { keys } = await db.one(query({ keys: text })`
    select coalesce(string_agg(kind || id::text || again::integer::text || lpad(part::text, 6, '0')
      || coalesce(artifact_id, ${noArtifact})::text || lpad(least(bytes, ${constant(10 ** digits - 1)})::text, ${constant(digits)}, '0'),
      '' order by occurred_at, id, part), '') as keys
    from (${eventKeys(orgId, trailId)}) e`);
  return keys;
}

/** Events read at a time: so many, and of so many bytes, the first one whatever it weighs. */
const slice = { rows: 200, bytes: 256 * 1024 };

/** Cuts what `listEventKeys` gave into slices: the keys of each, with commas between them. */
function* slicesOf(keys: string): Generator<string> {
  let [asked, total] = [[] as string[], 0];
  for (let from = 0; from < keys.length; from += recordLength) {
    const key = keys.slice(from, from + keyLength);
    const bytes = Number(keys.slice(from + keyLength, from + recordLength));
    if (asked.length === slice.rows || (asked.length > 0 && total + bytes > slice.bytes)) {
      yield asked.join(",");
      [asked, total] = [[], 0];
    }
    asked.push(key);
    total += bytes;
  }
  if (asked.length > 0) yield asked.join(",");
}

/**
 * Reads the events of a trail by their keys, some at a time: most of what they say never changes. Those that are gone by then, with
 * their month, are left out.
 * @param keys as `listEventKeys` gives them.
 */
export async function* listKeyedEvents(
  db: Database,
  orgId: string,
  trailId: string,
  keys: string,
): AsyncGenerator<TrailEventRow[]> {
  for (const asked of slicesOf(keys)) {
    const statement = query("trail-events-slice", trailEvent)`
      select e.occurred_at, e.type, e.data, e.repo_info::text as repo_info
      -- Split at commas: who takes a key by its place counts the characters before it, for every part of every key.
      from unnest(string_to_array(${asked}, ',')) with ordinality as given (key, n)
      cross join lateral (
        select n, left(key, 1) as kind, substr(key, 2, 36)::uuid as id, substr(key, 38, 1) = '1' as again,
          substr(key, 39, 6)::integer as part, substr(key, 45)::uuid as artifact_id offset 0) asked
      cross join lateral (${eventOfKey(orgId, trailId)}) e
      order by asked.n`;
    yield await db.sliced(() => db.all(statement));
  }
}
