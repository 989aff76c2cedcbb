import { type Parameter, raw, type Sql, sql } from "./sql.ts";

/**
 * Writes a condition for rows of an organization that have a value in a column of which the index has numbers (`value_number`). Others may
 * have the same number, so that the value is compared, too.
 * @param a name of the rows.
 * @param value an expression of SQL, a text.
 */
export function hasValue(org: Parameter | Sql, a: string, column: string, value: Sql): Sql {
  const [row, name] = [raw(a), raw(column)];
  return sql`value_number(${row}.org_id, ${row}.${name}) = value_number(${org}::uuid, ${value}) and ${row}.${name} = ${value}`;
}
