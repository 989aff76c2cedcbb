-- waybill: rewrites
-- How many trails each flow has, so that lists of all trails need not count them: exact in the transactions that begin them.
-- Several rows of a flow have to be added up: whoever begins trails takes one that nobody else is changing, so that nobody
-- waits.
create table trail_tallies (
  org_id uuid not null,
  flow_id uuid not null,
  slot bigint generated always as identity,
  trails bigint not null,
  primary key (org_id, flow_id, slot)
) with (fillfactor = 50);

-- Reads an index of trails once.
insert into trail_tallies (org_id, flow_id, trails) select org_id, flow_id, count(*) from trails group by 1, 2;
analyze trail_tallies;

create function add_to_trail_tallies(org uuid, flow uuid, n bigint) returns void
  language plpgsql as $$
begin
  update trail_tallies t set trails = t.trails + n
  where t.org_id = org and t.flow_id = flow and t.slot = (
    select slot from trail_tallies where org_id = org and flow_id = flow order by slot limit 1 for update skip locked);
  if not found then
    insert into trail_tallies (org_id, flow_id, trails) values (org, flow, n);
  end if;
end
$$;

create function tally_new_trails() returns trigger
  language plpgsql as $$
begin
  perform add_to_trail_tallies(org_id, flow_id, count)
  from (select org_id, flow_id, count(*) as count from new_rows group by 1, 2 order by 1, 2) begun;
  return null;
end
$$;
create trigger trails_tally_new after insert on trails
  referencing new table as new_rows for each statement execute function tally_new_trails();
