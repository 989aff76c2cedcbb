import type { ExactJson } from "../lib/exact-json.ts";
import { present } from "../lib/present.ts";
import type { Columns, RowOf } from "./row.ts";

/** What PostgreSQL is told as a parameter. Anything else is made text or JSON first. */
export type SqlValue = string | number | bigint | boolean | null | Buffer | readonly SqlValue[];

/** A value that stands in several places of a statement as one parameter. Made by `param`. */
export class Parameter {
  readonly value: SqlValue;

  constructor(value: SqlValue) {
    this.value = value;
  }
}

/** A piece of SQL with the values in it. Made by `sql`, and may stand inside other SQL. */
export class Sql {
  readonly strings: readonly string[];
  readonly parts: readonly Part[];

  constructor(strings: readonly string[], parts: readonly Part[]) {
    this.strings = strings;
    this.parts = parts;
  }
}

type Part = Sql | Parameter | SqlValue;

/**
 * Writes SQL. Values become parameters, other SQL becomes part of it:
 *
 *     sql`select name from flows where org_id = ${orgId} and ${condition}`
 */
export function sql(strings: TemplateStringsArray, ...parts: Part[]): Sql {
  return new Sql(strings, parts);
}

/** Makes a value one parameter, however often it is put into a statement. */
export function param(value: SqlValue): Parameter {
  return new Parameter(value);
}

/** Makes ids one parameter, for `::uuid[]`: in a fraction of the time that the driver takes for a list of texts, each of which it escapes. */
export function uuidList(ids: readonly string[]): Parameter {
  return param(`{${ids.join(",")}}`);
}

/** Takes a text for SQL as it is: text of the program, never of a caller. */
export function raw(text: string): Sql {
  return new Sql([text], []);
}

/**
 * Writes a number or a truth value into the text of a statement, where the planner sees it (see `query`). It is one of the
 * program: a caller's value is a parameter, so that a prepared statement keeps its text.
 * @throws Error for a number that is not finite, and for one so large that it may have been rounded.
 */
export function constant(value: number | boolean): Sql {
  if (typeof value === "number" && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
    throw new Error(`${value} cannot stand in SQL`);
  return raw(String(value));
}

/** Writes a name, or one name of another (`schema.table`), in quotes. */
export function identifier(...names: string[]): Sql {
  return raw(names.map((name) => `"${name.replaceAll('"', '""')}"`).join("."));
}

/** Puts a separator between pieces of SQL, a comma if none is given. */
export function join(pieces: readonly Part[], separator = ", "): Sql {
  if (pieces.length === 0) return empty;
  return new Sql(["", ...Array.from({ length: pieces.length - 1 }, () => separator), ""], pieces);
}

/** No SQL at all. */
export const empty = raw("");

/** Writes Unix seconds as a `timestamptz`. */
export function moment(seconds: number | null): Sql {
  return sql`to_timestamp(${seconds}::float8)`;
}

/** Writes a JSON value as `jsonb`; null and undefined as SQL null. */
export function jsonb(value: unknown): Sql {
  return sql`${value === null || value === undefined ? null : JSON.stringify(value)}::jsonb`;
}

/** Writes JSON as it was written, for a column of the type `json`. */
export function json(value: ExactJson): Sql {
  return sql`${value.text}::json`;
}

/** A statement that changes something and answers no rows. */
export interface Command {
  sql: Sql;
  /** Under which PostgreSQL keeps it parsed and planned; undefined for one that is planned anew each time. */
  name: string | undefined;
}

/** A statement that answers rows of these columns. */
export interface Query<Row> extends Command {
  columns: Columns;
  /** See `QueryOptions`. */
  pipelined: boolean;
  /** Carries the type of the rows; never set. */
  row?: Row;
}

export interface QueryOptions {
  /**
   * It takes a fraction of a millisecond, whatever the values and however much data there is: then it shares a
   * connection with others, which wait for it.
   */
  pipelined?: true;
}

type Tag<Result> = (strings: TemplateStringsArray, ...parts: Part[]) => Result;

/**
 * Begins a statement that answers rows. One with a name is prepared: its text must be the same each time it is run.
 *
 *     const flow = { id: uuid, name: text };
 *     db.first(query("flow-by-name", flow)`select id, name from flows where …`)
 *
 * PostgreSQL plans a prepared statement once for all values, which it does not see then. Where few rows are wanted, a
 * constant in the text says so beside the parameter: `… limit 100) as largest limit ${limit}`.
 *
 * @param columns the columns of its rows, which tests compare with what PostgreSQL answers.
 */
export function query<C extends Columns>(
  name: string,
  columns: C,
  options?: QueryOptions,
): Tag<Query<RowOf<C>>>;
export function query<C extends Columns>(columns: C): Tag<Query<RowOf<C>>>;
export function query<C extends Columns>(
  first: string | C,
  second?: C,
  { pipelined = false }: { pipelined?: boolean } = {},
): Tag<Query<RowOf<C>>> {
  const name = typeof first === "string" ? first : undefined;
  const columns = typeof first === "string" ? present(second, "columns follow a name") : first;
  return (strings, ...parts) => ({ name, columns, pipelined, sql: new Sql(strings, parts) });
}

/** Begins a statement that answers no rows and is prepared: its text must be the same each time it is run. */
export function command(name: string): Tag<Command> {
  return (strings, ...parts) => ({ name, sql: new Sql(strings, parts) });
}

/** Texts of templates without other SQL in them. */
const texts = new WeakMap<readonly string[], string>();

/** Writes a statement out as text with numbered parameters, and their values. */
export function render(whole: Sql): { text: string; values: SqlValue[] } {
  const values: SqlValue[] = [];
  const known = texts.get(whole.strings);
  if (known !== undefined) return { text: known, values: whole.parts as SqlValue[] };
  const places = new Map<Parameter, number>();
  const place = (part: Parameter | SqlValue): string => {
    const given = part instanceof Parameter ? places.get(part) : undefined;
    if (given !== undefined) return `$${given}`;
    values.push(part instanceof Parameter ? part.value : part);
    if (part instanceof Parameter) places.set(part, values.length);
    return `$${values.length}`;
  };
  const write = ({ strings, parts }: Sql): string => {
    let [text = ""] = strings;
    for (const [at, part] of parts.entries())
      text += (part instanceof Sql ? write(part) : place(part)) + (strings[at + 1] ?? "");
    return text;
  };
  const text = write(whole);
  if (!whole.parts.some((part) => part instanceof Sql || part instanceof Parameter))
    texts.set(whole.strings, text);
  return { text, values };
}
