-- waybill: rewrites
-- The file that came with an attestation.

alter table attestations add column evidence_id uuid,
  add foreign key (org_id, evidence_id) references evidence (org_id, id);
