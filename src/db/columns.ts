import { type ColumnType, type RawBuilder, sql } from "kysely";

import type { ExactJson } from "../lib/exact-json.ts";

declare const momentBrand: unique symbol;
declare const jsonBrand: unique symbol;

/** A `timestamptz` on its way in: made by `moment()` from Unix seconds. */
export interface Moment {
  readonly [momentBrand]: true;
}

/** A `jsonb` or `json` value on its way in: made by `jsonb()` or `json()`. */
export interface Jsonb {
  readonly [jsonBrand]: true;
}

/** Read as Unix seconds with a microsecond fraction, written through `moment()`. */
export type TimestampColumn = ColumnType<number, Moment, Moment>;

/**
 * Read as whatever JSON it holds, written through `jsonb()`. Columns of evidence are of the type `json`, which keeps it as
 * it was written: written through `json()`, read as text.
 */
export type JsonColumn = ColumnType<unknown, Jsonb, Jsonb>;

/** Unix seconds as a column value. */
export function moment(seconds: number): RawBuilder<Moment> {
  return sql<Moment>`to_timestamp(${seconds}::float8)`;
}

/** Unix seconds to compare a `timestamptz` column with. */
export function instant(seconds: number): RawBuilder<number> {
  return sql<number>`to_timestamp(${seconds}::float8)`;
}

/** Unix seconds or null as a column value. */
export function momentOrNull(seconds: number | null): RawBuilder<Moment | null> {
  return sql<Moment | null>`to_timestamp(${seconds}::float8)`;
}

/** Any JSON value as a column value. */
export function jsonb(value: unknown): RawBuilder<Jsonb> {
  return sql<Jsonb>`${JSON.stringify(value)}::jsonb`;
}

/** JSON as it was written, as the value of a `json` column. */
export function json(value: ExactJson): RawBuilder<Jsonb> {
  return sql<Jsonb>`${value.text}::json`;
}

/** A JSON value, or SQL null for null and undefined. */
export function jsonbOrNull(value: unknown): RawBuilder<Jsonb | null> {
  return sql<Jsonb | null>`${value === null || value === undefined ? null : JSON.stringify(value)}::jsonb`;
}
