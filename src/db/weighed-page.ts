import { nilId } from "../lib/ids.ts";
import { type Columns, integer, type RowOf, text, uuid } from "./row.ts";
import { constant, empty, join, type Parameter, query, raw, type Sql, sql } from "./sql.ts";
import type { Executor } from "./executor.ts";

/** What the rows of a listing are and how they are shown. */
interface WeighedListing<Shown extends Columns> {
  /** Unlike that of any other statement. */
  name: string;
  table: string;
  /** Condition on `a`, the rows of the table that the organization has. */
  where: Sql;
  /** Column that rows are ordered by, before their id. An index must give this order, or the rows must be few. */
  order: string;
  /** Columns whose values may be large. */
  large: readonly string[];
  /** What is shown of a row, beside its id: `json` is what may be large. */
  columns: Shown;
  /** How these are made, from `a` and `joins`. */
  shown: Sql;
  joins: Sql;
  /** An expression that `joins` use, of the rows of a page whose ids are in `light`: its name and a selection, which is done once a page. */
  once?: { name: string; rows: Sql };
}

/** Columns that each row has: where it stands, and what it and those before it on the page weigh. */
const position = { id: uuid, place: text, nth: integer, total: integer };

type Position = RowOf<typeof position>;

const first = { place: "", id: nilId };
const maxRows = 200;
/** As stored, mostly compressed. */
const maxStoredBytes = 250_000;
const maxTextBytes = 1_000_000;

/** Selects `rows` as far as they weigh no more than this together, the first one whatever it weighs. */
function upTo(limit: number, weight: Sql, rows: Sql): Sql {
  return sql`select * from (
    select r.*, row_number() over in_order as nth, sum(${weight}) over in_order as total from (${rows}) r
    window in_order as (order by r.place, r.id)) w where nth = 1 or total <= ${constant(limit)}`;
}

/** Selects the rows after this one that make a page. */
function selectPage<Shown extends Columns>(
  org: Parameter,
  { table, where, order, large, shown, joins, once }: WeighedListing<Shown>,
  after: { place: string; id: string },
): Sql {
  const [from, place] = [raw(table), raw(`a.${order}`)];
  const stored = large.map((column) => raw(`coalesce(pg_column_size(a.${column}), 0)`));
  const rows = sql`
    select a.id, ${place} as place, ${join(stored, " + ")} as stored_bytes from ${from} a
    where a.org_id = ${org} and (${where}) and (${place}, a.id) > (${after.place}::text, ${after.id}::uuid)
    order by ${place}, a.id limit ${constant(maxRows)}`;
  const whole = sql`
    select a.id, ${place} as place, ${shown} from light join ${from} a on a.org_id = ${org} and a.id = light.id ${joins}`;
  return sql`
    with light as materialized (${upTo(maxStoredBytes, raw("stored_bytes"), rows)})
    ${once === undefined ? empty : sql`, ${raw(once.name)} as materialized (${once.rows})`}
    select * from (${upTo(maxTextBytes, raw("octet_length(json)"), whole)}) shown order by place, id`;
}

/**
 * Reads a listing of any length, in pages, whose rows may be small or of megabytes each: many rows a statement, yet
 * never more than a few megabytes of them in memory. What is added meanwhile may or may not be among them.
 * @param org the id of the organization, as it stands in the SQL of the listing.
 */
export async function* readWeighed<Shown extends Columns>(
  db: Executor,
  org: Parameter,
  listing: WeighedListing<Shown>,
): AsyncGenerator<(RowOf<Shown> & Position)[]> {
  const columns = { ...listing.columns, ...position };
  let after = first;
  for (;;) {
    const rows = await db.all(query(listing.name, columns)`${selectPage(org, listing, after)}`);
    const page = rows as (RowOf<Shown> & Position)[];
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = { place: last.place, id: last.id };
  }
}
