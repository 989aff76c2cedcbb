-- Nobody reports to an environment in the archive, so that silence counts from when it came out of it, at the earliest.
alter table environments add column unarchived_at timestamptz;

-- Generated columns cannot be changed in all versions of PostgreSQL. Dropping it takes the indexes along that have it.
alter table environments drop column silent_after;
alter table environments add column silent_after timestamptz generated always as (
  case when type <> 'logical' and archived_at is null then (
    greatest(coalesce(last_reported_at, case when silence_limit is not null then created_at end), unarchived_at) at time zone 'UTC'
      + make_interval(secs => coalesce(silence_limit, learned_limit))) at time zone 'UTC' end) stored;

-- One index for each order of the list, ties included, so that a page is read and not sorted; in it whatever filters ask for.
create index environments_by_name on environments (org_id, archived, name, id)
  include (type, state, last_reported_at, silent_after, silence_limit, learned_limit);
create index environments_by_type on environments (org_id, archived, type, name, id)
  include (state, last_reported_at, silent_after, silence_limit, learned_limit);
create index environments_by_modified on environments (org_id, archived, last_modified_at, name, id)
  include (type, state, last_reported_at, silent_after, silence_limit, learned_limit);
create index environments_by_modified_desc on environments (org_id, archived, last_modified_at desc, name, id)
  include (type, state, last_reported_at, silent_after, silence_limit, learned_limit);
create index environments_by_changed on environments (org_id, archived, last_changed_at, name, id)
  include (type, state, last_reported_at, silent_after, silence_limit, learned_limit);
create index environments_by_changed_desc on environments (org_id, archived, last_changed_at desc nulls last, name, id)
  include (type, state, last_reported_at, silent_after, silence_limit, learned_limit);
create index environments_by_reported on environments (org_id, archived, last_reported_at, name, id)
  include (type, state, silent_after, silence_limit, learned_limit);
create index environments_by_reported_desc on environments (org_id, archived, last_reported_at desc nulls last, name, id)
  include (type, state, silent_after, silence_limit, learned_limit);
create index environments_by_state on environments (org_id, archived, state, name, id)
  include (type, last_reported_at, silent_after, silence_limit, learned_limit);
create index environments_by_state_desc on environments (org_id, archived, state desc nulls last, name, id)
  include (type, last_reported_at, silent_after, silence_limit, learned_limit);
-- Those that may be silent, and what they are sorted by.
create index environments_silent on environments (org_id, archived, silent_after)
  include (name, id, type, state, last_modified_at, last_changed_at, last_reported_at, silence_limit, learned_limit)
  where silent_after is not null;

-- A silence ends when its environment is archived. Those of environments that are there already did not.
update environment_silences s set ended_at = greatest(s.began_at, e.archived_at)
from environments e
where e.org_id = s.org_id and e.id = s.environment_id and e.archived_at is not null and s.ended_at is null;
