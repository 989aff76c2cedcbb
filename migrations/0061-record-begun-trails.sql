-- Records that trails were reported for the first time, as `move_trails` begins them: those without a version. Called right
-- after they were inserted.
create function record_begun_trails(org uuid, given json) returns void
  language plpgsql as $$
#variable_conflict use_column
begin
  insert into trail_events (org_id, trail_id, id, occurred_at, type, data)
  select org, t.id, i.event_id, to_timestamp(i.created_at), 'trail_reported', json_build_object(
    'git_commit_info', t.git_commit_info,
    'repo_info', (
      select json_build_object('inner_id', wire_id(r.id), 'org_id', wire_id(r.org_id), 'repo_id', r.repo_id, 'name', r.name,
        'url', r.url, 'provider', r.provider, 'description', r.description, 'vcs_instance', r.vcs_instance,
        'namespace_path', r.namespace_path, 'additional_info', r.additional_info, 'created_at', epoch(r.created_at),
        'last_modified_at', epoch(r.last_modified_at), 'tags', r.tags)
      from repos r where r.org_id = org and r.id = t.repo_ids[1]),
    'setting_user_id', i.creating_user_id,
    'trail_data_json', json_build_object(
      'org_id', wire_id(t.org_id), 'flow_id', wire_id(t.flow_id), 'name', t.name, 'creating_user_id', i.creating_user_id,
      'description', t.description, 'git_commit_info', i.shown_commit, 'template_id', wire_id(t.template_id),
      'origin_url', t.origin_url, 'user_data', t.user_data::text,
      'repo_ids', (select coalesce(json_agg(wire_id(id)), '[]') from unnest(t.repo_ids) as id)))
  from json_to_recordset(given) as i (id uuid, version text, event_id uuid, created_at float8, shown_commit jsonb,
    creating_user_id text)
  cross join lateral (select * from trails t where t.org_id = org and t.id = i.id limit 1) t
  where i.version is null;
end
$$;
