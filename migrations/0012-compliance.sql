-- The verdict on each trail, written together with whatever it rests on.

create table trail_compliance (
  org_id uuid not null,
  trail_id uuid not null,
  state text not null check (state in ('COMPLIANT', 'NON-COMPLIANT', 'INCOMPLETE')),
  -- What the trail's own attestations come to, without those of its artifacts.
  own_state text not null check (own_state in ('COMPLIANT', 'NON-COMPLIANT', 'INCOMPLETE')),
  -- Of each template name, in short: {"artifact_fingerprint": …, "status": …}. Reports of what runs ask for many of them.
  artifact_states jsonb not null,
  -- As reads show it. Not jsonb: artifacts are shown in the template's order.
  status json not null,
  primary key (org_id, trail_id)
) with (fillfactor = 70);

-- What reports change of a living flow in lists: the trail that was last reported to, when and with what verdict, and
-- where the latest artifact comes from. Kept with the verdicts.
create table flow_activity (
  org_id uuid not null,
  flow_id uuid not null,
  trail_id uuid not null,
  last_modified_at timestamptz not null,
  state text not null check (state in ('COMPLIANT', 'NON-COMPLIANT', 'INCOMPLETE')),
  -- The latest artifact; and its repo, by id or, when its report gave one, by URL.
  artifact_id uuid,
  repo_id uuid,
  repo_url text,
  -- For the index: most reports leave it as it was, and so touch no index. Reads sort what falls into one minute.
  active_minute timestamp not null,
  -- The end of the flow's JSON.
  json text not null
) with (fillfactor = 50);
create index flow_activity_latest on flow_activity (org_id, active_minute);
alter table flow_activity add primary key (org_id, flow_id);

-- A flow that is archived is neither counted nor listed any more. Nothing can be reported to it.
create function forget_archived_flow() returns trigger
  language plpgsql as $$
begin
  update flow_counts set count = count - 1 where org_id = new.org_id;
  delete from flow_activity where org_id = new.org_id and flow_id = new.id;
  return null;
end
$$;
create trigger flows_forget_archived after update of archived_at on flows
  for each row when (old.archived_at is null and new.archived_at is not null) execute function forget_archived_flow();
