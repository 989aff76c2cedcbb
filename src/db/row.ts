import pg, { type FieldDef } from "pg";

import { present } from "../lib/present.ts";

/** How a column comes from PostgreSQL, and as what it is read. */
export interface Column<Value> {
  /** Object ids of the PostgreSQL types it may have. */
  oids: readonly number[];
  nullable: boolean;
  /** Its values, where only some are possible. */
  values?: readonly unknown[];
  /** Carries the type; never set. */
  value?: Value;
}

/** The columns of a statement's rows, by name. */
export type Columns = Readonly<Record<string, Column<unknown>>>;

/** The rows of these columns. */
export type RowOf<C extends Columns> = {
  -readonly [Name in keyof C]: C[Name] extends Column<infer Value> ? Value : never;
};

function column<Value>(...oids: number[]): Column<Value> {
  return { oids, nullable: false };
}

const jsonOids = [114, 3802] as const;

/** `uuid`, as text. */
export const uuid = column<string>(2950);
/** `text` and its kin. */
export const text = column<string>(25, 1043, 19);
/** A whole number of at most 2^53: `bigint`, `integer` or `smallint`. */
export const integer = column<number>(20, 23, 21);
/** A number in floating point. */
export const float = column<number>(701, 700);
export const boolean = column<boolean>(16);
/** `timestamptz`, as Unix seconds with a microsecond fraction. */
export const timestamp = column<number>(1184);
export const bytes = column<Buffer>(17);
export const uuids = column<string[]>(2951);
export const texts = column<string[]>(1009);
/** Numbers in floating point. */
export const floats = column<number[]>(1021, 1022);

/** Makes a column of JSON, read as objects. Its shape is what the program wrote there. */
export function json<Value>(): Column<Value> {
  return column<Value>(...jsonOids);
}

/** Makes a column of texts that are one of these. */
export function oneOf<const Value extends string>(values: readonly Value[]): Column<Value> {
  return { ...text, values } as Column<Value>;
}

/** Makes a column that may be null. */
export function nullable<Value>(of: Column<Value>): Column<Value | null> {
  return { ...of, nullable: true };
}

const builtins: Readonly<Record<string, number>> = pg.types.builtins;

/** Names a type of PostgreSQL for people. */
function typeName(oid: number): string {
  const name = Object.keys(builtins).find((each) => builtins[each] === oid);
  return name?.toLowerCase() ?? `type ${oid}`;
}

interface Answer {
  fields: readonly Pick<FieldDef, "name" | "dataTypeID">[];
  rows: readonly Record<string, unknown>[];
}

/** Says how an answer differs from the columns that a statement claims; undefined when it does not. */
export function rowProblem(columns: Columns, { fields, rows }: Answer): string | undefined {
  const names = fields.map(({ name }) => name);
  const claimed = Object.keys(columns);
  if (names.length !== claimed.length || names.some((name) => columns[name] === undefined))
    return `has the columns ${names.join(", ")}, not ${claimed.join(", ")}`;
  for (const { name, dataTypeID } of fields) {
    const { oids, nullable: mayBeNull, values } = present(columns[name], "each name is claimed");
    if (!oids.includes(dataTypeID))
      return `column ${name} is ${typeName(dataTypeID)}, not ${oids.map(typeName).join(" or ")}`;
    for (const row of rows) {
      const value = row[name];
      if (value === null ? !mayBeNull : values !== undefined && !values.includes(value))
        return `column ${name} is ${JSON.stringify(value)}`;
    }
  }
  return undefined;
}
