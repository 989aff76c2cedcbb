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
  primary key (org_id, trail_id),
  foreign key (org_id, trail_id) references trails (org_id, id)
) with (fillfactor = 70);

-- The trail of each flow that was last reported to, and when: kept with the verdicts, so that flows can be listed by it.
create table flow_activity (
  org_id uuid not null,
  flow_id uuid not null,
  trail_id uuid not null,
  last_modified_at timestamptz not null,
  primary key (org_id, flow_id),
  foreign key (org_id, flow_id) references flows (org_id, id)
) with (fillfactor = 50);
