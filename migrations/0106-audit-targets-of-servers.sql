-- Where servers send the audit logs, so that whoever removes old entries knows without being told. Makes a table.

create table audit_targets (
  -- As in audit_cursors.
  id text primary key,
  -- What people know it by: without what may be secret.
  name text not null,
  -- When a server last was to send to it, to the hour.
  named_at timestamptz not null
);
