-- waybill: rewrites
-- Finds attestations without their trail: newest first, by what a search may ask for. Each search reads one of these in
-- order and stops when its page is full.

create index attestations_created on attestations (org_id, created_at, id);
create index attestations_flow on attestations (org_id, flow_id, created_at, id);
-- Also tells which names there are, by skipping from one to the next.
create index attestations_name on attestations (org_id, name, created_at, id);
create index attestations_type on attestations (org_id, type, created_at, id);
create index attestations_failed on attestations (org_id, created_at, id) where not is_compliant;
create index attestations_commit on attestations (org_id, git_commit, created_at, id) where git_commit is not null;
