import type { PreparedExecutor } from "./connect.ts";

/** What the rows of a listing are and how they are shown, as SQL text. */
export interface WeighedListing {
  /** Unlike that of any other statement. */
  name: string;
  table: string;
  /** Condition on `a`, the rows of the table, with the organization as `$1`. */
  where: string;
  /** Column that rows are ordered by, before their id. An index must give this order, or the rows must be few. */
  order: string;
  /** Columns whose values may be large. */
  large: readonly string[];
  /** Columns of the result from `a` and `joins`: `json` is the one that is large. */
  columns: string;
  joins: string;
}

/** After which row a page begins. */
export interface WeighedPosition {
  place: string;
  id: string;
}

const first: WeighedPosition = { place: "", id: "00000000-0000-0000-0000-000000000000" };
const maxRows = 200;
/** As stored, mostly compressed. */
const maxStoredBytes = 250_000;
const maxTextBytes = 1_000_000;

/** `rows` as far as they weigh no more than this together, the first one whatever it weighs. */
function upTo(limit: number, weight: string, rows: string): string {
  return `select * from (
    select r.*, row_number() over in_order as nth, sum(${weight}) over in_order as total from (${rows}) r
    window in_order as (order by r.place, r.id)) w where nth = 1 or total <= ${limit}`;
}

function pageText(listing: WeighedListing, position: number): string {
  const { table, where, order, large, columns, joins } = listing;
  const stored = large.map((column) => `coalesce(pg_column_size(a.${column}), 0)`).join(" + ");
  const rows = `
    select a.id, a.${order} as place, ${stored} as stored_bytes from ${table} a
    where a.org_id = $1 and (${where}) and (a.${order}, a.id) > ($${position}::text, $${position + 1}::uuid)
    order by a.${order}, a.id limit ${maxRows}`;
  const shown = `
    select a.id, a.${order} as place, ${columns} from light join ${table} a on a.org_id = $1 and a.id = light.id ${joins}`;
  return `
    with light as materialized (${upTo(maxStoredBytes, "stored_bytes", rows)})
    select * from (${upTo(maxTextBytes, "octet_length(json)", shown)}) shown order by place, id`;
}

/**
 * Reads a listing of any length, in pages, whose rows may be small or of megabytes each: many rows a statement, yet
 * never more than a few megabytes of them in memory. What is added meanwhile may or may not be among them.
 * @param values of the parameters `$1`, `$2`, … that the listing's SQL uses, all of them.
 */
export async function* readWeighed<Row extends object>(
  db: PreparedExecutor,
  listing: WeighedListing,
  values: readonly unknown[],
): AsyncGenerator<Row[]> {
  const text = pageText(listing, values.length + 1);
  let after = first;
  for (;;) {
    const page = await db.prepared<Row & WeighedPosition>({ name: listing.name, text }, [
      ...values,
      after.place,
      after.id,
    ]);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = { place: last.place, id: last.id };
  }
}
