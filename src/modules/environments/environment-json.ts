/**
 * SQL for an environment as the wire has it (interface spec 2), keys in the published order. What only logical or only
 * archived environments have is looked up for those alone.
 * @param alias of the `environments` row.
 * @param org SQL for the organization's name.
 */
export function environmentJson(alias: string, org: string): string {
  const e = alias;
  return `json_build_object(
    'org', ${org}, 'name', ${e}.name, 'type', ${e}.type, 'description', ${e}.description,
    'last_modified_at', epoch(${e}.last_modified_at), 'last_reported_at', epoch(${e}.last_reported_at),
    'last_changed_at', epoch(${e}.last_changed_at), 'state', ${e}.state, 'include_scaling', false, 'tags', ${e}.tags,
    'policies', '[]'::json, 'included_environments', case when ${e}.type = 'logical' then ${memberNames(e)} end,
    'archived_at', epoch(${e}.archived_at), 'archived_by', case when ${e}.archived then ${archiver(e)} end)`;
}

function memberNames(e: string): string {
  return `(select coalesce(json_agg(member.name order by included.position), '[]')
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
