-- waybill: rewrites
-- What a trail is judged by, whatever number of reports it has: of each kind of report in each place, the first and the
-- last ones.

-- Finds the first and the last artifact of each name.
drop index artifacts_trail;
create index artifacts_trail_name on artifacts (org_id, trail_id, template_reference_name, id);

-- Where an attestation counts: on the trail; for the artifact of a fingerprint; or, bound to none yet, for the artifact
-- of each name it is meant for that is built from its commit ("commit"), and, while there is no such artifact, from any
-- ("name").
create function attestation_places(fingerprint text, targets text[], git_commit text)
returns table (kind text, place text) language sql immutable parallel safe as $$
  select 'fingerprint', fingerprint where fingerprint is not null
  union all select 'trail', '' where fingerprint is null and coalesce(cardinality(targets), 0) = 0
  union all select distinct 'name', target from unnest(targets) target where fingerprint is null
  union all select distinct 'commit', target || '@' || md5(git_commit) from unnest(targets) target
    where fingerprint is null and git_commit is not null
$$;

-- Kept by the statement that inserts attestations; rows of a trail change under the lock of its row only.
create table attestation_heads (
  org_id uuid not null,
  trail_id uuid not null,
  kind text collate "C" not null check (kind in ('trail', 'fingerprint', 'name', 'commit')),
  place text collate "C" not null,
  name text collate "C" not null,
  type text collate "C" not null,
  first_id uuid not null,
  latest_id uuid not null,
  -- The last one that is not an override.
  latest_plain_id uuid,
  primary key (org_id, trail_id, kind, place, name, type)
) with (fillfactor = 80);

insert into attestation_heads (org_id, trail_id, kind, place, name, type, first_id, latest_id, latest_plain_id)
select a.org_id, a.trail_id, p.kind, p.place, a.name, a.type, (array_agg(a.id order by a.id))[1],
  (array_agg(a.id order by a.id desc))[1], (array_agg(a.id order by a.id desc) filter (where not a.is_override))[1]
from attestations a
cross join lateral attestation_places(a.artifact_fingerprint, a.target_artifacts, a.git_commit) p
group by 1, 2, 3, 4, 5, 6;
