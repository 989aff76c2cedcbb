-- waybill: rewrites
-- What servers know of the time together. One row, or none.
create table time_marks (
  one boolean primary key default true check (one),
  -- The latest time that a server took for right; kept every half a minute. Null when no server has looked yet.
  recorded_at timestamptz,
  -- Milliseconds that new ids are ahead of the time. Ids are in the order in which they were made: after a clock that was
  -- ahead they have to come after those made under it.
  id_offset bigint not null default 0
);

-- What an older version has recorded under a clock that was ahead: only that, for a server that was away long is no reason
-- to doubt anything.
with latest as (
  select max(at) as at from (
    select (select occurred_at from audit_log where org_id = o.id order by occurred_at desc limit 1) as at
    from organizations o
    union all select max(last_build_at) from org_counters
    union all select max(greatest(last_reported_at, last_changed_at, last_modified_at)) from environments
    union all select max(looked_at) from silence_watch
  ) times
)
insert into time_marks (recorded_at, id_offset)
select at, (extract(epoch from at - clock_timestamp()) * 1000)::bigint + 60000
from latest where at > clock_timestamp() + interval '5 minutes' and at < 'infinity';
