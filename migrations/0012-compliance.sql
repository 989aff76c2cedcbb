-- The verdict on each trail, written together with whatever it rests on.

create table trail_compliance (
  org_id uuid not null,
  trail_id uuid not null,
  state text not null check (state in ('COMPLIANT', 'NON-COMPLIANT', 'INCOMPLETE')),
  -- As reads show it. Not jsonb: artifacts are shown in the template's order.
  status json not null,
  primary key (org_id, trail_id),
  foreign key (org_id, trail_id) references trails (org_id, id)
) with (fillfactor = 70);
