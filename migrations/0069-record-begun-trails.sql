-- Records that trails were reported for the first time, as `move_trails` begins them: those without a version. Called right
-- after they were inserted.
create function record_begun_trails(org uuid, given json) returns void
  language plpgsql as $$
#variable_conflict use_column
begin
  insert into trail_events (org_id, trail_id, id, occurred_at, type, setting_user_id, repo_id, repo_version, repo_count)
  select org, t.id, i.event_id, to_timestamp(i.created_at), 'trail_reported', i.creating_user_id, t.repo_ids[1],
    (select r.version from repos r where r.org_id = org and r.id = t.repo_ids[1]), cardinality(t.repo_ids)
  from json_to_recordset(given) as i (id uuid, version text, event_id uuid, created_at float8, creating_user_id uuid)
  cross join lateral (select t.id, t.repo_ids from trails t where t.org_id = org and t.id = i.id limit 1) t
  where i.version is null;
end
$$;
