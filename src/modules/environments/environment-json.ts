/**
 * What is known of the rows before they are read. What cannot occur is left out of the statement: even a lookup that is
 * never made has to be set up.
 */
export interface Occurring {
  /** Whether there may be logical environments. */
  logical: boolean;
  /** Whether all are archived or none is; `undefined` when either may be. */
  archived?: boolean;
}

/**
 * SQL for the JSON text of an environment as the wire has it (interface spec 2), keys in the published order. What is its
 * own stands ready in its row; what only logical or only archived ones have is looked up for those alone.
 * @param alias of the `environments` row.
 * @param org SQL for the organization's name as it stands in JSON, quotes included.
 */
export function environmentJson(alias: string, org: string): string {
  return `${opening(org)} || ${alias}.json || (${closing(alias, { logical: true })})`;
}

/** SQL for a JSON array of such texts, from what follows `from`. */
export function environmentsJson(
  alias: string,
  org: string,
  from: { rows: string; order: string; occurring: Occurring },
): string {
  const ending = closing(alias, from.occurring);
  // What is alike for all is made once and put between their texts.
  const [json, tail] = isAlike(from.occurring)
    ? [`${alias}.json`, ending]
    : [`${alias}.json || (${ending})`, "''"];
  const between = `(select ${tail} || ',' || ${opening(org)})`;
  return `(select coalesce('[' || ${opening(org)} || string_agg(row.json, ${between}) || ${tail} || ']', '[]')
    from (select ${json} as json from ${from.rows} order by ${from.order}) as row)`;
}

function opening(org: string): string {
  return `('{"org":' || ${org} || ',')`;
}

/** Whether all that is needed of a row is its text. */
export function isAlike({ logical, archived }: Occurring): boolean {
  return !logical && archived === false;
}

function closing(e: string, { logical, archived }: Occurring): string {
  const members = logical
    ? `case when ${e}.type = 'logical' then ${memberNames(e)} else 'null' end`
    : "'null'";
  const living = `',"archived_at":null,"archived_by":null}'`;
  const ended = `',"archived_at":' || epoch(${e}.archived_at)::text
      || ',"archived_by":' || to_json(${archiver(e)})::text || '}'`;
  const known = archived === true ? ended : living;
  const end = archived === undefined ? `case when ${e}.archived then ${ended} else ${living} end` : known;
  return `',"included_environments":' || ${members} || ${end}`;
}

function memberNames(e: string): string {
  return `(select '[' || coalesce(string_agg(to_json(member.name)::text, ',' order by included.position), '') || ']'
      from environment_members included
      join environments member on member.org_id = included.org_id and member.id = included.member_id
      where included.org_id = ${e}.org_id and included.logical_id = ${e}.id)`;
}

/** The archiver's present display name; `Unknown` once they are deleted (S4). */
function archiver(e: string): string {
  return `coalesce(case ${e}.archived_by_kind
      when 'user' then (select coalesce(nullif(u.display_name, ''), u.name) from users u
        where u.id = ${e}.archived_by_id and u.deleted_at is null)
      when 'service_account' then (select s.name from service_accounts s
        where s.org_id = ${e}.org_id and s.id = ${e}.archived_by_id and s.archived_at is null)
      else ${e}.archived_by_name end, 'Unknown')`;
}
