import type { Database } from "./connect.ts";
import { rowById } from "./row-by-id.ts";
import { integer, nullable, type RowOf, text } from "./row.ts";
import { type Query, raw, type Sql, sql } from "./sql.ts";

/** Characters of an id as PostgreSQL writes it. */
const idLength = 36;

/** Columns of the statement that finds a list: the ids of its rows in their order, as `idText` writes them. */
export const idList = { ids: text };

/**
 * Writes the ids of rows in their order as one text: of 100,000 rows it takes 3.6 MB, and nothing is made of the others
 * before their turn comes.
 */
export function idText(id: string, order: Sql): Sql {
  return sql`coalesce(string_agg(${raw(id)}::text, '' order by ${order}), '')`;
}

/** Counts the ids of such a text. */
export function idCount(ids: string): number {
  return ids.length / idLength;
}

/** Gives the ids of such a text, so many at a time. */
export function* idsIn(ids: string, atOnce: number): Generator<string[]> {
  const count = idCount(ids);
  for (let from = 0; from < count; from += atOnce)
    yield Array.from({ length: Math.min(atOnce, count - from) }, (_, at) => idAt(ids, from + at));
}

function idAt(ids: string, at: number): string {
  return ids.slice(at * idLength, (at + 1) * idLength);
}

/** Rows read at a time: so many, and of so many bytes, the first one whatever it weighs. */
const listSlice = { rows: 200, bytes: 512 * 1024 };

/** Which rows `askedRows` selects. */
export interface AskedRows {
  /** The organization's id. */
  org: Sql;
  ids: readonly string[];
  /** The bytes of a row `r`, more than none. */
  weight: Sql;
}

/**
 * Writes what takes the place of a table: the rows of the ids that are still there, as far as they do not weigh too much
 * together. To it belongs the condition `lightEnough`, and `place` tells their order.
 */
export function askedRows(table: string, { org, ids, weight }: AskedRows): Sql {
  return sql`(select r.*, asked.place, sum(${weight}) over (order by asked.place) as bytes, ${weight} as own_bytes
    from unnest(${ids}::uuid[]) with ordinality as asked (id, place)
    ${rowById(table, "r", org, "asked.id")})`;
}

/** Writes a condition on the rows of `askedRows`. The first is light enough in any case. */
export function lightEnough(alias: string): Sql {
  return raw(`(${alias}.bytes <= ${listSlice.bytes} or ${alias}.bytes = ${alias}.own_bytes)`);
}

/** Columns of the statement that reads a slice of a list. */
export const slice = {
  /** Texts of rows with commas between them; null for none. */
  items: nullable(text),
  /** The place of the last one among the ids; null for none. */
  last: nullable(integer),
};

/** How the rows of a list are found, and how some of them are read. */
export interface SlicedList {
  ids: Query<RowOf<typeof idList>>;
  slice: (ids: readonly string[]) => Query<RowOf<typeof slice>>;
}

/** Reads rows by their ids, which follow each other in one text, as texts of some each, with commas between these. */
export async function* readInSlices(
  db: Pick<Database, "one" | "sliced">,
  ids: string,
  sliceOf: SlicedList["slice"],
): AsyncGenerator<string> {
  const count = idCount(ids);
  for (let from = 0; from < count;) {
    const asked = Array.from({ length: Math.min(listSlice.rows, count - from) }, (_, at) =>
      idAt(ids, from + at),
    );
    const { items, last } = await db.sliced(() => db.one(sliceOf(asked)));
    yield items ?? "";
    from += last ?? asked.length;
  }
}

/**
 * Reads a list of any length, as texts of some items each, with commas between these. Which rows there are, and their
 * order, is found out at once; each is then shown as it is when its turn comes, and left out if it is gone by then.
 */
export async function listInSlices(db: Database, list: SlicedList): Promise<AsyncGenerator<string>> {
  const { ids } = await db.one(list.ids);
  return readInSlices(db, ids, list.slice);
}
