-- The inbound code-quality webhook: its settings, and every delivery from the moment it is answered.

create table quality_integrations (
  org_id uuid primary key references organizations (id),
  hook_uid text collate "C" not null unique,
  -- Sealed: it signs, so it has to be read again.
  secret bytea not null,
  flow_name_base text not null check (flow_name_base in ('key', 'name')),
  flow_name_prefix text not null,
  flow_name_suffix text not null,
  created_at timestamptz not null,
  created_by_name text not null,
  last_modified_at timestamptz not null
);

create table quality_deliveries (
  org_id uuid not null references organizations (id),
  id uuid not null,
  received_at timestamptz not null,
  -- As received, byte for byte: what was signed is what is kept.
  body bytea not null,
  body_sha256 bytea not null,
  authenticated_by text not null check (authenticated_by in ('signature', 'api_key')),
  reported_by_name text not null,
  -- The settings in force when it came. They, with the body, decide what is recorded, however late that happens.
  flow_name_options jsonb not null,
  task_id text collate "C",
  project_key text collate "C",
  status text not null check (status in ('accepted', 'processed', 'duplicate', 'ignored', 'refused')),
  reason text,
  flow_name text,
  trail_name text,
  attestation_id uuid,
  processed_at timestamptz,
  replay_of uuid,
  primary key (org_id, id),
  foreign key (org_id, replay_of) references quality_deliveries (org_id, id)
);
-- One delivery of an analysis counts, however often it is sent. One that came to nothing does not stand in the way.
create unique index quality_deliveries_task on quality_deliveries (org_id, task_id)
  where task_id is not null and status in ('accepted', 'processed') and replay_of is null;
create index quality_deliveries_status on quality_deliveries (org_id, status, id);
create index quality_deliveries_project on quality_deliveries (org_id, project_key, id);
