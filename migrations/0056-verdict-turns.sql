-- waybill: rewrites
-- How the verdicts of all environments of an organization turned, added up by the hour, exact in the transactions that turn
-- them: histories of compliance add up hours instead of turns.

-- When environments began that are not archived.
create table environment_beginnings (
  org_id uuid not null,
  began_at timestamptz not null,
  environment_id uuid not null,
  primary key (org_id, began_at, environment_id)
  -- No foreign key: triggers write it, together with the environment.
);

-- Of environments that are not archived, whether their reporters were silent or not. Several rows of an hour have to be added
-- up: whoever turns a verdict takes one that nobody else is changing, so that nobody waits.
create table verdict_turns (
  org_id uuid not null,
  -- When it began, in UTC.
  hour timestamptz not null,
  slot bigint generated always as identity,
  -- At 1 + 3 * (the verdict before) + (the verdict after), by verdict_code: how many turned so, and the microseconds from the
  -- hour's beginning to each of them, added up.
  counts bigint[] not null,
  offsets bigint[] not null,
  primary key (org_id, hour, slot)
) with (fillfactor = 50);

create function verdict_code(verdict boolean) returns integer
  language sql immutable parallel safe return case when verdict then 1 when not verdict then 2 else 0 end;

create function add_to_turns(org uuid, at_hour timestamptz, place integer, n bigint, microseconds bigint) returns void
  language plpgsql as $$
begin
  update verdict_turns t
  set counts[place] = t.counts[place] + n, offsets[place] = t.offsets[place] + microseconds
  where t.org_id = org and t.hour = at_hour and t.slot = (
    select slot from verdict_turns where org_id = org and hour = at_hour order by slot limit 1 for update skip locked);
  if not found then
    insert into verdict_turns (org_id, hour, counts, offsets) values (org, at_hour,
      array_fill(0::bigint, array[place - 1]) || n || array_fill(0::bigint, array[9 - place]),
      array_fill(0::bigint, array[place - 1]) || microseconds || array_fill(0::bigint, array[9 - place]));
  end if;
end
$$;

-- Each turn there was, in the terms of the table.
create function turned_verdicts() returns table (org_id uuid, environment_id uuid, hour timestamptz, place integer,
  microseconds bigint)
  language sql stable as $$
  select org_id, environment_id, date_trunc('hour', created_at, 'UTC'), 1 + 3 * verdict_code(was_compliant) + verdict_code(compliant),
    (extract(epoch from created_at - date_trunc('hour', created_at, 'UTC')) * 1000000)::bigint
  from snapshots where compliant is distinct from was_compliant
$$;

-- Adds (1) or takes away (-1) all turns of an environment.
create function add_turns_of(org uuid, environment uuid, sign integer) returns void
  language plpgsql as $$
begin
  perform add_to_turns(org, turned.hour, turned.place, sign * turned.n, sign * turned.microseconds)
  from (
    select hour, place, count(*) as n, sum(microseconds)::bigint as microseconds from turned_verdicts()
    where org_id = org and environment_id = environment group by 1, 2 order by 1, 2) turned;
end
$$;

-- Does it all anew, when times of records have changed. Nobody may write meanwhile.
create function recount_turns() returns void
  language plpgsql as $$
begin
  delete from environment_beginnings;
  insert into environment_beginnings (org_id, began_at, environment_id)
  select org_id, created_at, id from environments where not archived;
  delete from verdict_turns;
  perform add_to_turns(turned.org_id, turned.hour, turned.place, turned.n, turned.microseconds)
  from (
    select t.org_id, t.hour, t.place, count(*) as n, sum(t.microseconds)::bigint as microseconds from turned_verdicts() t
    where not exists (
      select from environments e where e.org_id = t.org_id and e.id = t.environment_id and e.archived)
    group by 1, 2, 3 order by 1, 2, 3) turned;
end
$$;

create function note_turns() returns trigger
  language plpgsql as $$
begin
  if exists (select from new_rows where compliant is distinct from was_compliant) then
    perform add_to_turns(org_id, hour, place, count(*), sum((extract(epoch from created_at - hour) * 1000000)::bigint)::bigint)
    from (
      select s.org_id, s.created_at, date_trunc('hour', s.created_at, 'UTC') as hour,
        1 + 3 * verdict_code(s.was_compliant) + verdict_code(s.compliant) as place
      from new_rows s where s.compliant is distinct from s.was_compliant and not exists (
        select from environments e where e.org_id = s.org_id and e.id = s.environment_id and e.archived)
    ) turned
    group by org_id, hour, place order by org_id, hour, place;
  end if;
  return null;
end
$$;
create trigger snapshots_turn after insert on snapshots
  referencing new table as new_rows for each statement execute function note_turns();

create function note_living() returns trigger
  language plpgsql as $$
begin
  if new.archived_at is null then
    insert into environment_beginnings (org_id, began_at, environment_id) values (new.org_id, new.created_at, new.id);
  else
    delete from environment_beginnings where org_id = new.org_id and began_at = new.created_at and environment_id = new.id;
  end if;
  if tg_op = 'UPDATE' then
    perform add_turns_of(new.org_id, new.id, case when new.archived_at is null then 1 else -1 end);
  end if;
  return null;
end
$$;
create trigger environments_living_new after insert on environments
  for each row when (new.archived_at is null) execute function note_living();
create trigger environments_living after update of archived_at on environments
  for each row when ((old.archived_at is null) <> (new.archived_at is null)) execute function note_living();

-- Reads the index of turns once.
select recount_turns();
analyze environment_beginnings, verdict_turns;
