import { type Sql, sql } from "./sql.ts";

/**
 * Writes a JSON object as text with each member on a line of its own, for people. Members stay as they are: `json` keeps
 * how they were written, and is nowhere made anything else of.
 * @param object the object, as `json` or text.
 */
export function memberByLine(object: Sql): Sql {
  return sql`(select E'{\\n    ' || string_agg(to_json(m.key)::text || ': ' || m.value::text, E',\\n    ' order by m.position)
    || E'\\n}' from json_each((${object})::json) with ordinality as m (key, value, position))`;
}
