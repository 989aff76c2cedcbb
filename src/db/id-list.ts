import type { PreparedExecutor, Database, PreparedStatement } from "./connect.ts";
import type { Bound } from "./list-statement.ts";

/** Characters of an id as PostgreSQL writes it. */
const idLength = 36;

/**
 * SQL for the ids of rows in their order, as one text: of 100,000 rows it takes 3.6 MB, and nothing is made of the others
 * before their turn comes.
 */
export function idText(id: string, order: string): string {
  return `coalesce(string_agg(${id}::text, '' order by ${order}), '')`;
}

/** Rows read at a time: so many, and of so many bytes, the first one whatever it weighs. */
export const listSlice = { rows: 200, bytes: 512 * 1024 };

/**
 * SQL that takes the place of a table, with the rows of the ids asked about that are still there, as far as they do not
 * weigh too much together. To it belongs the condition `lightEnough`, and `place` tells their order.
 * @param weight SQL for the bytes of a row of this alias, more than none.
 */
export function askedRows(table: string, ids: string, weight: string): string {
  return `(select r.*, asked.place, sum(${weight}) over (order by asked.place) as bytes, ${weight} as own_bytes
    from unnest(${ids}) with ordinality as asked (id, place)
    join ${table} r on r.org_id = $1::uuid and r.id = asked.id)`;
}

/** Condition on the rows of `askedRows`. The first is light enough in any case. */
export function lightEnough(alias: string): string {
  return `(${alias}.bytes <= ${listSlice.bytes} or ${alias}.bytes = ${alias}.own_bytes)`;
}

/** Texts of rows with commas between them, and the place of the last one among those asked about; null for none. */
interface SliceRow extends Record<string, unknown> {
  items: string | null;
  last: number | null;
}

/** How the rows of a list are found, and how some of them are read. */
export interface SlicedList {
  /** Answers one row with `ids`. */
  ids: Bound;
  /** The statement for a slice, whose first values come before the ids. */
  slice: PreparedStatement;
  values: readonly unknown[];
}

async function readIds(db: PreparedExecutor, { statement, values }: Bound): Promise<string> {
  const [row] = await db.prepared<{ ids: string }>(statement, values);
  return row!.ids;
}

/**
 * A list of any length, as texts of some items each, with commas between these. Which rows there are, and their order, is
 * found out at once; each is then shown as it is when its turn comes, and left out if it is gone by then.
 */
export async function listInSlices(db: Database, list: SlicedList): Promise<AsyncGenerator<string>> {
  const ids = await readIds(db, list.ids);
  const count = ids.length / idLength;
  const idAt = (at: number): string => ids.slice(at * idLength, (at + 1) * idLength);

  async function* slices(): AsyncGenerator<string> {
    for (let from = 0; from < count;) {
      const asked = Array.from({ length: Math.min(listSlice.rows, count - from) }, (_, at) =>
        idAt(from + at),
      );
      const [row] = await db.sliced(() => db.prepared<SliceRow>(list.slice, [...list.values, asked]));
      yield row!.items ?? "";
      from += row!.last ?? asked.length;
    }
  }

  return slices();
}
