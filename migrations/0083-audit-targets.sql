-- How far entries of audit logs have been sent to where the operator keeps them, for each target and log. Makes a table and
-- adds a column with a constant default: neither takes longer on large tables.

create table audit_cursors (
  -- SHA-256 of the target's URL, hexadecimal: the URL itself may hold what others must not read.
  target text not null,
  -- The organization whose log it is, or the id of the log of the instance. No foreign key: that is no organization.
  org_id uuid not null,
  -- Number of the last entry that arrived.
  seq bigint not null,
  primary key (target, org_id)
);

-- Up to which number entries have no address any more.
alter table org_counters add column addresses_erased_to bigint not null default 0;
