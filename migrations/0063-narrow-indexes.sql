-- waybill: rewrites
-- Indexes were more than half of what an attestation takes, and of an entry of the audit log. Those below find the
-- same rows in the same order with shorter keys: a number stands for a value, which the row has in full, and rows of the same
-- moment are told apart where they are. Building them reads each table once for each.

-- A number for a value of an organization, to look it up by. Others may have the same one: who looks has to compare the value, too.
create function value_number(org uuid, value text) returns bigint
  language sql immutable strict parallel safe
  return hashtextextended(value collate "C", uuid_hash_extended(org, 0));

-- The same in four bytes, for two of them in one key.
create function short_value_number(org uuid, value text) returns integer
  language sql immutable strict parallel safe
  return (value_number(org, value) >> 32)::integer;

drop index attestations_created;
create index attestations_created on attestations (org_id, created_at);
drop index attestations_flow;
create index attestations_flow on attestations (org_id, flow_id, created_at);
-- With the organization, although the number says it: the planner would rather read all of an organization by another index.
drop index attestations_type;
create index attestations_type on attestations (org_id, value_number(org_id, type), created_at);
drop index attestations_name;
create index attestations_name on attestations (org_id, value_number(org_id, name), created_at);
-- Tells which names there are, by skipping from one to the next. Equal keys share one entry.
create index attestations_names on attestations (org_id, name);
-- Commits are searched by how they begin. A commit has few reports, which share one entry.
drop index attestations_commit;
create index attestations_commit on attestations (org_id, git_commit) where git_commit is not null;

-- Entries of one transaction have one moment, and share one entry.
drop index audit_log_time;
create index audit_log_time on audit_log (org_id, occurred_at);
drop index audit_log_action;
create index audit_log_action on audit_log (value_number(org_id, action), seq);
drop index audit_log_actor;
create index audit_log_actor on audit_log (value_number(org_id, actor_name), seq);
drop index audit_log_resource;
create index audit_log_resource on audit_log
  (short_value_number(org_id, resource_type), short_value_number(org_id, resource), seq);

-- Statistics of what stands in the indexes.
analyze attestations, audit_log;
