import type { Database } from "./connect.ts";
import { json, nullable, text, uuids } from "./row.ts";
import { constant, join, raw, type Sql, sql } from "./sql.ts";

/** Ids of the rows of a page, in its order, and how many bytes each has, more or less. */
export type HeavyRows = readonly (readonly [id: string, bytes: number])[];

/** A page as the text of a JSON array or, where it is heavy, which rows it has: these are read a few at a time. */
export type PageText = { list: string; heavy: null } | { list: null; heavy: HeavyRows };

/** The columns of a page. */
export const pageText = { list: nullable(text), heavy: nullable(json<HeavyRows>()) };

/** Bytes of rows up to which a page is one text; a slice of a heavy one has as many at most, or one row. */
export const mostBytes = 4_000_000;

/** Says whether so many bytes are too many to be read at once. */
export function isHeavy(bytes: Sql): Sql {
  return sql`(coalesce(${bytes}, 0) > ${constant(mostBytes)})`;
}

/** Writes what lists the rows of a heavy page: an aggregate. @param order of the page, by columns of the rows. */
export function heavyRows({ id, bytes, order }: { id: Sql; bytes: Sql; order: string }): Sql {
  return sql`json_agg(json_build_array(${id}, ${bytes}) order by ${raw(order)})`;
}

/** Says which a page is. */
export function pageOf({ list, heavy }: { list: string | null; heavy: HeavyRows | null }): PageText {
  if (list !== null) return { list, heavy: null };
  return { list, heavy: heavy ?? [] };
}

/** Cuts a page into slices. */
function* slicesOf<Id>(rows: readonly (readonly [id: Id, bytes: number])[]): Generator<Id[]> {
  let slice: Id[] = [];
  let total = 0;
  for (const [id, bytes] of rows) {
    if (slice.length > 0 && total + bytes > mostBytes) {
      yield slice;
      [slice, total] = [[], 0];
    }
    slice.push(id);
    total += bytes;
  }
  if (slice.length > 0) yield slice;
}

/**
 * Reads the rows of a heavy page, some at a time and each only when it is asked for, so that no more of them are in memory than one slice,
 * whatever they weigh together.
 * @param read reads rows by their ids, in that order.
 */
export async function* readHeavy<Part, Id = string>(
  db: Pick<Database, "sliced">,
  rows: readonly (readonly [id: Id, bytes: number])[],
  read: (ids: readonly Id[]) => Promise<Part>,
): AsyncGenerator<Part> {
  for (const ids of slicesOf(rows)) yield db.sliced(() => read(ids));
}

/** The first rows of a page and, where it is heavy, the ids of those which have yet to be read. */
export interface BegunPage<Row> {
  rows: Row[];
  rest: string[];
}

/**
 * Bytes of columns that may be large: of each row in `source`, and of those before it in the page's order.
 * @param more bytes of what is read besides of a row.
 */
export function weighed(
  source: Sql,
  { columns, more, order }: { columns: readonly string[]; more?: Sql; order: string },
): Sql {
  const ofColumns = columns.map((column) => raw(`coalesce(octet_length(${column}), 0)`));
  const bytes = join(more === undefined ? ofColumns : [...ofColumns, more], " + ");
  return sql`select *, sum(${bytes}) over in_order as bytes, row_number() over in_order as place
        from ${source} window in_order as (order by ${raw(order)})`;
}

/** The columns that a page has besides when it is read by its lightest rows. */
export const begunPage = {
  /** Of all rows of the page, with the first one. */
  ids: nullable(uuids),
};

/** Writes the column of ids, of which the row in the first place has all. @param ids of the page's rows: a list. */
export function idsAtFirst(ids: Sql): Sql {
  return sql`case when place = 1 then ${ids} end as ids`;
}

/** Says what has been read of a page, and what has not. */
export function begunBy<Row extends { id: string; ids: string[] | null }>(rows: Row[]): BegunPage<Row> {
  const read = new Set(rows.map(({ id }) => id));
  return { rows, rest: rows[0]?.ids?.filter((id) => !read.has(id)) ?? [] };
}

/** Reads all of a page of which the first rows have been read. @param read begins with what is left. */
export async function* wholePage<Row>(
  db: Pick<Database, "sliced">,
  first: BegunPage<Row>,
  read: (ids: readonly string[]) => Promise<BegunPage<Row>>,
): AsyncGenerator<Row[]> {
  for (let page = first; page.rows.length > 0;) {
    yield page.rows;
    const { rest } = page;
    if (rest.length === 0) return;
    page = await db.sliced(() => read(rest));
  }
}
