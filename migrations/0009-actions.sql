-- Notification rules: which triggers, in which environments or flows, tell which targets.

create table actions (
  org_id uuid not null references organizations (id),
  -- From org_counters, so never used twice.
  number integer not null,
  -- Not unique: two rules may share a name, the newest is the one meant by it.
  name text collate "C" not null,
  type text not null check (type in ('env', 'flow')),
  triggers text[] not null,
  -- Everything of the targets but their secrets, in the order given; webhook addresses are sealed beside it.
  targets jsonb not null,
  target_secrets bytea not null,
  created_by_name text not null,
  created_at timestamptz not null,
  last_modified_at timestamptz not null,
  primary key (org_id, number)
);
create index actions_name on actions (org_id, name, number);

create table action_environments (
  org_id uuid not null,
  action_number integer not null,
  position integer not null,
  environment_id uuid not null,
  primary key (org_id, action_number, environment_id),
  foreign key (org_id, action_number) references actions (org_id, number) on delete cascade,
  foreign key (org_id, environment_id) references environments (org_id, id)
);
create index action_environments_environment on action_environments (org_id, environment_id);

create table action_flows (
  org_id uuid not null,
  action_number integer not null,
  position integer not null,
  flow_id uuid not null,
  primary key (org_id, action_number, flow_id),
  foreign key (org_id, action_number) references actions (org_id, number) on delete cascade,
  foreign key (org_id, flow_id) references flows (org_id, id)
);
create index action_flows_flow on action_flows (org_id, flow_id);
