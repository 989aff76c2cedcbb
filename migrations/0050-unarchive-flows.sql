-- Lists of archived flows, and those that were archived under a name: the latest comes back first.
create index flows_archived on flows (org_id, original_name, archived_at) where archived_at is not null;

-- A flow that comes back is counted and listed again. Its activity is found among its 10,000 newest trails: which one was
-- reported to last is in no index, and the next report sets it right.
create function remember_unarchived_flow() returns trigger
  language plpgsql as $$
begin
  insert into flow_counts as c (org_id, count) values (new.org_id, 1)
  on conflict (org_id) do update set count = c.count + 1;
  insert into flow_activity (org_id, flow_id, trail_id, last_modified_at, state, active_minute, json, artifact_id, repo_id,
    repo_url)
  select new.org_id, new.id, t.id, t.last_modified_at, o.state, date_trunc('minute', t.last_modified_at at time zone 'UTC'),
    epoch(t.last_modified_at)::text || ',"latest_state":"' || o.state || '"}', a.id,
    case when coalesce(a.repo_url, '') = '' then a.repo_id end, nullif(a.repo_url, '')
  from (
    select newest.* from (
      select id, last_modified_at from trails where org_id = new.org_id and flow_id = new.id
      order by created_at desc, id desc limit 10000) newest
    order by last_modified_at desc, id desc limit 1) t
  join trail_outcomes o on o.org_id = new.org_id and o.trail_id = t.id
  left join lateral (
    select id, repo_id, repo_url from artifacts
    where org_id = new.org_id and flow_id = new.id order by id desc limit 1) a on true;
  return null;
end
$$;
create trigger flows_remember_unarchived after update of archived_at on flows
  for each row when (old.archived_at is not null and new.archived_at is null) execute function remember_unarchived_flow();
