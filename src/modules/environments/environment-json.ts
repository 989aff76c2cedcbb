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
export function environmentJson(
  alias: string,
  org: string,
  occurring: Occurring = { logical: true },
): string {
  return `'{"org":' || ${org} || ',' || ${alias}.json || ${members(alias, occurring)} || ${archive(alias, occurring)}`;
}

/** SQL for a JSON array of such texts, from what follows `from`. */
export function environmentsJson(
  alias: string,
  org: string,
  from: { rows: string; order: string; occurring: Occurring },
): string {
  return `(select '[' || coalesce(string_agg(row.json, ','), '') || ']' from (
      select ${environmentJson(alias, org, from.occurring)} as json from ${from.rows} order by ${from.order}) as row)`;
}

function members(e: string, { logical }: Occurring): string {
  const policies = `',"policies":' || ${e}.policies || ',"included_environments":'`;
  if (!logical) return `${policies} || 'null'`;
  return `${policies} || case when ${e}.type = 'logical' then ${memberNames(e)} else 'null' end`;
}

function archive(e: string, { archived }: Occurring): string {
  const living = `',"archived_at":null,"archived_by":null}'`;
  const ended = `',"archived_at":' || epoch(${e}.archived_at)::text
      || ',"archived_by":' || to_json(${archiver(e)})::text || '}'`;
  if (archived !== undefined) return archived ? ended : living;
  return `case when ${e}.archived then ${ended} else ${living} end`;
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
