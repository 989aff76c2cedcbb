import { rowById } from "../../../db/row-by-id.ts";
import { empty, raw, type Sql, sql } from "../../../db/sql.ts";

/**
 * Which environments a statement may meet. What the others would need is left out of it: even a lookup that is never made
 * has to be set up.
 */
export interface EnvironmentScope {
  /** Whether there may be logical environments. */
  logical: boolean;
  /** Whether all are archived or none is; `undefined` when either may be. */
  archived?: boolean;
  /** Members that each gets after its own, each with a comma before it, as `summaryJson` writes them. */
  more?: Sql | undefined;
}

/** An organization in SQL. */
export interface OrgSql {
  id: Sql;
  /** Its name as it stands in JSON, quotes included. */
  name: Sql;
}

/**
 * Writes the JSON text of an environment as the wire has it (interface spec 2), keys in the published order. What is its
 * own stands ready in its row; what only logical or only archived ones have is looked up for those alone.
 * @param alias of the `environments` row.
 * @param more see `EnvironmentScope`.
 */
export function environmentJson(alias: string, org: OrgSql, more?: Sql): Sql {
  return sql`${jsonHead(org)} || ${raw(alias)}.json || (${jsonTail(alias, org, { logical: true, more })})`;
}

/**
 * Writes a JSON array of such texts.
 * @param from what follows `from`, its order, and what may be in it.
 */
export function environmentsJson(
  alias: string,
  org: OrgSql,
  from: { rows: Sql; order: Sql; scope: EnvironmentScope },
): Sql {
  const ending = jsonTail(alias, org, from.scope);
  // What is alike for all is made once and put between their texts.
  const [json, tail] = endsAlike(from.scope)
    ? [raw(`${alias}.json`), ending]
    : [sql`${raw(alias)}.json || (${ending})`, raw("''")];
  const between = sql`(select ${tail} || ',' || ${jsonHead(org)})`;
  return sql`(select coalesce('[' || ${jsonHead(org)} || string_agg(row.json, ${between}) || ${tail} || ']', '[]')
    from (select ${json} as json from ${from.rows} order by ${from.order}) as row)`;
}

function jsonHead(org: OrgSql): Sql {
  return sql`('{"org":' || ${org.name} || ',')`;
}

/** Says whether the JSON of all environments ends alike, so that of a row only its text is needed. */
export function endsAlike({ logical, archived, more }: EnvironmentScope): boolean {
  return !logical && archived === false && more === undefined;
}

function jsonTail(e: string, org: OrgSql, { logical, archived, more }: EnvironmentScope): Sql {
  const members = logical
    ? sql`case when ${raw(e)}.type = 'logical' then ${memberNames(e, org)} else 'null' end`
    : raw("'null'");
  const living = raw(`',"archived_at":null,"archived_by":null'`);
  const ended = sql`',"archived_at":' || epoch(${raw(e)}.archived_at)::text
      || ',"archived_by":' || to_json(${archiver(e, org)})::text`;
  const known = archived === true ? ended : living;
  const end =
    archived === undefined ? sql`case when ${raw(e)}.archived then ${ended} else ${living} end` : known;
  const own = sql`',"included_environments":' || ${members} || ${end}`;
  return sql`${own}${more === undefined ? empty : sql` || ${more}`} || '}'`;
}

function memberNames(alias: string, org: OrgSql): Sql {
  const e = raw(alias);
  return sql`(select '[' || coalesce(string_agg(to_json(member.name)::text, ',' order by included.position), '') || ']'
      from environment_members included ${rowById("environments", "member", org.id, "included.member_id")}
      where included.org_id = ${org.id} and included.logical_id = ${e}.id)`;
}

/** Looks up the archiver's present display name; `Unknown` once they are deleted (S4). */
function archiver(alias: string, org: OrgSql): Sql {
  const e = raw(alias);
  return sql`coalesce(case ${e}.archived_by_kind
      when 'user' then (select coalesce(nullif(u.display_name, ''), u.name) from users u
        where u.id = ${e}.archived_by_id and u.deleted_at is null)
      when 'service_account' then (select s.name from service_accounts s
        where s.org_id = ${org.id} and s.id = ${e}.archived_by_id and s.archived_at is null)
      else ${e}.archived_by_name end, 'Unknown')`;
}
