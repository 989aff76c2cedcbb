-- Who did what, on which resource, when. Dense and totally ordered within an organization.

-- No foreign key: each entry would lock the organization's row again.
create table audit_log (
  org_id uuid not null,
  seq bigint not null,
  occurred_at timestamptz not null,
  actor_kind text not null check (actor_kind in ('user', 'service_account', 'integration', 'system')),
  actor_id uuid,
  actor_name text not null,
  api_key_id uuid,
  action text not null,
  resource_type text not null,
  resource text not null,
  request_id text not null,
  request_digest bytea,
  primary key (org_id, seq)
);
create index audit_log_action on audit_log (org_id, action, seq);
create index audit_log_actor on audit_log (org_id, actor_name, seq);
create index audit_log_resource on audit_log (org_id, resource_type, resource, seq);
create index audit_log_time on audit_log (org_id, occurred_at, seq);
create trigger audit_log_insert_only before update or delete on audit_log
  for each row execute function forbid_change();
create trigger audit_log_no_truncate before truncate on audit_log
  for each statement execute function forbid_change();
