-- Lists of environments by their verdict, by the time of their last report and by silence, each in any order and with its
-- exact number. Whatever these ask for stands in the indexes of the orders, so that they are answered without the rows.

-- What was learned of the rhythm of reports stands beside the limit that somebody set: together they say when an environment
-- is silent for too long.
alter table environments add column learned_limit real;
drop index environments_by_name, environments_by_type, environments_by_modified, environments_by_modified_desc,
  environments_by_changed, environments_by_changed_desc;
update environments e set learned_limit = r.learned_limit
from environment_reports r
where r.org_id = e.org_id and r.environment_id = e.id and r.learned_limit is not null;
alter table environment_reports drop column learned_limit;

-- From then on it is silent for too long, had servers watched all the time. Null: never. Reckoned in UTC, because only that
-- is the same whatever the zone of the session.
alter table environments add column silent_after timestamptz generated always as (
  case when type <> 'logical' and archived_at is null then (
    coalesce(last_reported_at, case when silence_limit is not null then created_at end) at time zone 'UTC'
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
