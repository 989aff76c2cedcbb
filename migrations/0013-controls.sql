-- waybill: rewrites
-- Governance requirements that decisions and policies name, and every state each of them was in.

create table controls (
  org_id uuid not null references organizations (id),
  id uuid not null,
  identifier text collate "C" not null,
  name text collate "C" not null,
  description text,
  -- Name of a link to its address.
  links jsonb not null,
  -- Number of the latest entry of its history.
  version integer not null,
  archived boolean not null default false,
  tags jsonb not null default '{}',
  created_at timestamptz not null,
  created_by_name text not null
);
create index controls_name on controls (org_id, archived, name, identifier);
create unique index controls_identifier on controls (org_id, identifier);
alter table controls add primary key (org_id, id);

-- One entry for each change but those of tags, numbered from 1 without gaps: the control as it was from then on.
create table control_versions (
  org_id uuid not null,
  control_id uuid not null,
  version integer not null,
  status text not null check (status in ('Created', 'Edited', 'Archived', 'Unarchived')),
  name text not null,
  description text,
  links jsonb not null,
  archived boolean not null,
  created_at timestamptz not null,
  created_by_name text not null,
  primary key (org_id, control_id, version),
  foreign key (org_id, control_id) references controls (org_id, id)
);
create trigger control_versions_insert_only before update or delete on control_versions
  for each row execute function forbid_change();

-- Decisions on a control, by time.
create index attestations_control on attestations (org_id, control_identifier, created_at, id)
  where control_identifier is not null;
