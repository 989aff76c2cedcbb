-- Triggers as they can run inside a shard of a distributed database, too: what they write to other tables comes from values,
-- not from the table of new rows, and no function takes a row, whose type is another in each shard. They do what they did.

create or replace function count_new_environments() returns trigger
  language plpgsql as $$
declare
  added record;
begin
  for added in
    select org_id, archived_at is not null as archived, type, count(*) as count from new_rows
    group by 1, 2, 3 order by 1, 2, 3
  loop
    insert into environment_counts as c (org_id, archived, type, count)
    values (added.org_id, added.archived, added.type, added.count)
    on conflict (org_id, archived, type) do update set count = c.count + excluded.count;
  end loop;
  return null;
end
$$;

create or replace function count_new_flows() returns trigger
  language plpgsql as $$
declare
  added record;
begin
  for added in select org_id, count(*) as count from new_rows where archived_at is null group by 1 order by 1 loop
    insert into flow_counts as c (org_id, count) values (added.org_id, added.count)
    on conflict (org_id) do update set count = c.count + excluded.count;
  end loop;
  return null;
end
$$;

-- What an environment adds to each sum.
create function environment_sums(archived boolean, state boolean, is_logical boolean, has_reported boolean, artifacts integer,
  failing integer, unproven integer, allowed integer) returns bigint[]
  language sql immutable parallel safe as $$
  select case when archived then array[0, 0, 0, 0, 0, 0, 0, 0, 0]::bigint[] else array[
    1, coalesce(state, false)::integer, coalesce(not state, false)::integer, (state is null)::integer,
    (not is_logical and not has_reported)::integer,
    case when is_logical then 0 else artifacts end, case when is_logical then 0 else failing end,
    case when is_logical then 0 else unproven end, case when is_logical then 0 else allowed end]::bigint[] end
$$;

create or replace function tally_new_environments() returns trigger
  language plpgsql as $$
begin
  perform add_to_tallies(org_id, array[sum(t[1]), sum(t[2]), sum(t[3]), sum(t[4]), sum(t[5]), sum(t[6]), sum(t[7]),
    sum(t[8]), sum(t[9])]::bigint[])
  from (select org_id, environment_sums(archived_at is not null, state, type = 'logical', last_reported_at is not null,
    artifact_count, failing_count, unproven_count, allowed_count) as t from new_rows) tallied
  group by org_id;
  return null;
end
$$;

create or replace function tally_environment() returns trigger
  language plpgsql as $$
declare
  before bigint[] := environment_sums(old.archived_at is not null, old.state, old.type = 'logical',
    old.last_reported_at is not null, old.artifact_count, old.failing_count, old.unproven_count, old.allowed_count);
  after bigint[] := environment_sums(new.archived_at is not null, new.state, new.type = 'logical',
    new.last_reported_at is not null, new.artifact_count, new.failing_count, new.unproven_count, new.allowed_count);
begin
  if before <> after then
    perform add_to_tallies(new.org_id, array(
      select a.n - b.n from unnest(after) with ordinality a (n, place) join unnest(before) with ordinality b (n, place)
      using (place) order by place));
  end if;
  return null;
end
$$;
drop function environment_tally(environments);

create or replace function add_to_tag_tallies(org uuid, of_kind text, k text, v text, n bigint) returns void
  language plpgsql as $$
declare
  free bigint[];
  removed bigint := 0;
begin
  free := array(
    select t.slot from tag_tallies t
    where t.org_id = org and t.kind = of_kind and t.key = k and t.is_long = (v is null) and t.value = coalesce(v, '')
    for update skip locked);
  if cardinality(free) > 0 then
    with gone as (
      delete from tag_tallies t
      where t.org_id = org and t.kind = of_kind and t.key = k and t.is_long = (v is null) and t.value = coalesce(v, '')
        and t.slot = any(free)
      returning t.uses
    )
    select coalesce(sum(uses), 0) into removed from gone;
  end if;
  if n + removed <> 0 then
    insert into tag_tallies (org_id, kind, key, is_long, value, uses)
    values (org, of_kind, k, v is null, coalesce(v, ''), n + removed);
  end if;
end
$$;

create or replace function keep_artifact_words() returns trigger
  language plpgsql as $$
declare
  named record;
begin
  for named in select distinct org_id, flow_id, search_base(filename) as name from new_rows order by 1, 2, 3 loop
    -- Most artifacts are another build of what the flow built before, and write nothing.
    perform from search_words w
    where w.org_id = named.org_id and w.kind = 'artifact' and w.ref = named.flow_id and w.name = named.name limit 1;
    if not found then
      insert into search_words (org_id, kind, later, text, ref, name)
      select named.org_id, 'artifact', t.later, t.text, named.flow_id, named.name from search_texts(named.name) t
      order by t.later, t.text
      on conflict do nothing;
    end if;
  end loop;
  return null;
end
$$;

create or replace function keep_attestation_words() returns trigger
  language plpgsql as $$
declare
  reported record;
begin
  for reported in select org_id, id, type, type_data from new_rows where type in ('jira', 'pull_request') order by id loop
    insert into search_words (org_id, kind, later, text, ref, name)
    select reported.org_id, m.kind, m.later, m.text, reported.id, m.name
    from search_mentions(reported.type, reported.type_data) m
    order by m.kind, m.later, m.text
    on conflict do nothing;
  end loop;
  return null;
end
$$;

create or replace function note_turns() returns trigger
  language plpgsql as $$
declare
  turned record;
begin
  for turned in
    select org_id, environment_id, hour, place, count(*) as n,
      sum((extract(epoch from created_at - hour) * 1000000)::bigint)::bigint as microseconds
    from (
      select s.org_id, s.environment_id, s.created_at, date_trunc('hour', s.created_at, 'UTC') as hour,
        1 + 3 * verdict_code(s.was_compliant) + verdict_code(s.compliant) as place
      from new_rows s where s.compliant is distinct from s.was_compliant
    ) turns
    group by 1, 2, 3, 4 order by 1, 3, 4, 2
  loop
    perform from environments e where e.org_id = turned.org_id and e.id = turned.environment_id and e.archived;
    if not found then
      perform add_to_turns(turned.org_id, turned.hour, turned.place, turned.n, turned.microseconds);
    end if;
  end loop;
  return null;
end
$$;

-- Errors name the table, not the shard or the month.
create or replace function forbid_change() returns trigger
  language plpgsql as $$
begin
  raise exception 'table % is insert-only', regexp_replace(tg_table_name, '(_[0-9]+)+$', '')
    using errcode = 'restrict_violation';
end
$$;

create or replace function forbid_removal() returns trigger
  language plpgsql as $$
begin
  raise exception 'rows of table % are never removed', regexp_replace(tg_table_name, '(_[0-9]+)+$', '')
    using errcode = 'restrict_violation';
end
$$;
