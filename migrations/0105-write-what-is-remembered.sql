-- Servers remember trails and repos that they wrote to, and write again without looking first. What they took for granted is looked at while
-- writing, besides what always was: that no action watches the flow by now, when a trail was last reported to (versions alone are numbers that a
-- database gives again after it was set back), and that the repos are as they were.
-- And a trail that somebody else has begun meanwhile is found out on Citus, too: reports were written to none there.
-- Moves trails on that were looked at, adds repos to them, and begins those that were not there with the template of their flow.
-- Rows are locked in the order flows, trails, in the order of flow and name.
-- Returns false, having written nothing, when a flow has another name by now, is archived or watched, or a trail was written since.
-- Raises serialization_failure when a trail was begun by somebody else, or its flow has another template.
create or replace function move_trails(org uuid, given json) returns boolean
  language plpgsql as $$
#variable_conflict use_column
declare
  wanted integer := json_array_length(given);
  seen integer;
  held integer;
begin
  select count(*), count(i.version) into held, seen
  from json_to_recordset(given) as i (flow_id uuid, flow_name text, version text)
  cross join lateral (
    select from flows f
    where f.org_id = org and f.id = i.flow_id and f.name = i.flow_name and f.archived_at is null
      and not exists (select from action_flows w where w.org_id = org and w.flow_id = f.id)
    limit 1 for key share) f;
  if held < wanted then
    return false;
  end if;
  -- A single one is locked by its update.
  if seen > 1 then
    select count(*) into held
    from (
      select * from json_to_recordset(given) as i (id uuid, flow_id uuid, name text, version text, left_at float8)
      where i.version is not null order by i.flow_id, i.name collate "C") i
    cross join lateral (
      select t.xmin::text as version, t.last_modified_at from trails t
      where t.org_id = org and t.id = i.id limit 1 for no key update) t
    where t.version = i.version and (i.left_at is null or t.last_modified_at = to_timestamp(i.left_at));
    if held < seen then
      return false;
    end if;
  end if;
  if seen > 0 then
    update trails t set last_modified_at = greatest(t.last_modified_at, to_timestamp(i.last_modified_at)),
      repo_ids = t.repo_ids || array(
        select added.id from unnest(i.repo_ids) with ordinality as added (id, position)
        where added.id <> all (t.repo_ids) order by added.position)
    from json_to_recordset(given) as i (id uuid, version text, left_at float8, last_modified_at float8, repo_ids uuid[])
    -- Every id is between these. A range is taken for narrow, so that each row is looked up by its key; where the planner expects a hundred trails
    -- to be moved, and as few in an organization, it read the whole organization off whichever index has ids in it.
    where t.org_id = org and t.id = i.id and t.xmin::text = i.version
      and (i.left_at is null or t.last_modified_at = to_timestamp(i.left_at))
      and i.id between '00000000-0000-0000-0000-000000000000' and 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    get diagnostics held = row_count;
    if held < seen then
      if seen > 1 then
        raise serialization_failure using message = 'A trail that was locked has changed';
      end if;
      return false;
    end if;
  end if;
  if seen < wanted then
    insert into trails as t (org_id, id, flow_id, name, description, git_commit_info, template, template_id, repo_ids,
      created_at, created_by_name, last_modified_at)
    select org, i.id, i.flow_id, i.name, i.description, i.git_commit_info, f.template, f.template_id, i.repo_ids,
      to_timestamp(i.created_at), i.created_by_name, to_timestamp(i.last_modified_at)
    from json_to_recordset(given) as i (id uuid, flow_id uuid, name text, version text, template_id uuid, description text,
      git_commit_info jsonb, repo_ids uuid[], created_at float8, created_by_name text, last_modified_at float8)
    cross join lateral (
      select f.template, f.template_id from flows f
      where f.org_id = org and f.id = i.flow_id and f.template_id = i.template_id limit 1) f
    where i.version is null
    order by i.flow_id, i.name collate "C"
    on conflict (org_id, flow_id, name) do nothing;
    -- Not the number of rows that were inserted: Citus counts those that were given.
    select count(*) into held
    from json_to_recordset(given) as i (id uuid, version text)
    cross join lateral (select from trails t where t.org_id = org and t.id = i.id limit 1) t
    where i.version is null;
    if held < wanted - seen then
      raise serialization_failure using message = 'A trail was begun by somebody else meanwhile';
    end if;
    perform record_begun_trails(org, given);
  end if;
  return true;
end
$$;

-- Writes attestations as `write_attestations` does, if these repos are as they were besides (`repos`: id and version of each).
-- Returns the version that the rows of the trails have now; null, having written nothing, when something is not as it was.
create function write_attestations_as_seen(org uuid, repos json, trails json, attestations json, verdicts json, entries json,
  at_time float8) returns text language plpgsql as $$
#variable_conflict use_column
declare
  held integer;
  written text;
begin
  if json_array_length(repos) > 0 then
    select count(*) into held
    from json_to_recordset(repos) as i (id uuid, version text)
    cross join lateral (select r.xmin::text as version from repos r where r.org_id = org and r.id = i.id limit 1) r
    where r.version = i.version;
    if held < json_array_length(repos) then
      return null;
    end if;
  end if;
  if not write_attestations(org, trails, attestations, verdicts, entries, at_time) then
    return null;
  end if;
  -- One transaction wrote all of them. Its number is not that of the caller where the rows are on another node.
  select t.xmin::text into strict written from trails t where t.org_id = org and t.id = (trails -> 0 ->> 'id')::uuid;
  return written;
end
$$;
