-- waybill: rewrites
-- What came of each trail, in short: what lists are searched by and statistics count. Thousands of rows are looked at for
-- one answer, so they are kept apart from the verdicts, which are long. Written together with these.
create table trail_outcomes (
  org_id uuid not null,
  trail_id uuid not null,
  state text not null check (state in ('COMPLIANT', 'NON-COMPLIANT', 'INCOMPLETE')),
  -- The time of the report that made it COMPLIANT; null unless it is.
  compliant_since timestamptz,
  -- Names of attestations that were reported, that fail, and that the template asks for and are missing: each somewhere,
  -- on the trail or on one of its artifacts.
  reported_names text[] not null,
  failing_names text[] not null,
  missing_names text[] not null,
  primary key (org_id, trail_id)
) with (fillfactor = 70, autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 0.5);
-- As the other tables of trails (0026).
alter table trail_outcomes alter column org_id set statistics 0;

-- Of what was judged before, the time of the last report stands for that of the one that decided.
insert into trail_outcomes (org_id, trail_id, state, compliant_since, reported_names, failing_names, missing_names)
select c.org_id, c.trail_id, c.state,
  case when c.state = 'COMPLIANT' then (
    select t.last_modified_at from trails t where t.org_id = c.org_id and t.id = c.trail_id) end,
  names.reported, names.failing, names.missing
from trail_compliance c
cross join lateral (
  select coalesce(array_agg(distinct said.attestation_name) filter (where said.status = 'COMPLETE'), '{}') as reported,
    coalesce(array_agg(distinct said.attestation_name) filter (where not said.is_compliant), '{}') as failing,
    coalesce(array_agg(distinct said.attestation_name) filter (where said.status = 'MISSING'), '{}') as missing
  from (
    select c.status -> 'attestations_statuses' as list
    union all
    select artifact.value -> 'attestations_statuses' from json_each(c.status -> 'artifacts_statuses') as artifact) as places
  cross join lateral json_to_recordset(places.list) as said (attestation_name text, status text, is_compliant boolean)
) as names;
