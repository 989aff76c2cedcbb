-- The log of the instance: entries of the audit log that belong to no organization. They have an organization id of their own, which
-- names no organization, and so their own numbers. All entries gain the address they came from, and details. Each statement changes the
-- catalog alone and takes no longer on large tables.

-- The instance has a counter, too.
alter table org_counters drop constraint org_counters_org_id_fkey;

alter table audit_log
  -- Who sent the request. The one column that is emptied again, when it is old.
  add column address text,
  -- An object with what else is to be said: names and numbers, never secrets.
  add column details jsonb;

-- Guards tables of record: what was written once is never changed or removed. Columns that the trigger names may be emptied.
create or replace function forbid_change() returns trigger
  language plpgsql as $$
begin
  if tg_op = 'UPDATE' and tg_nargs > 0 then
    if to_jsonb(new) = to_jsonb(old) || (select jsonb_object_agg(name, null) from unnest(tg_argv) as emptied (name)) then
      return new;
    end if;
  end if;
  raise exception 'table % is insert-only', regexp_replace(tg_table_name, '(_[0-9]+)+$', '')
    using errcode = 'restrict_violation';
end
$$;

drop trigger audit_log_insert_only on audit_log;
create trigger audit_log_insert_only before update or delete on audit_log
  for each row execute function forbid_change('address');

-- Appends to the organization's audit log, in this order and without gaps. The organization's counter stays locked until the
-- transaction ends, which is what makes the order total: append last.
create or replace function append_to_audit_log(org uuid, at_time float8, given json) returns void
  language plpgsql as $$
#variable_conflict use_column
declare
  entries bigint := json_array_length(given);
  latest bigint;
begin
  update org_counters set audit_seq = audit_seq + entries where org_id = org returning audit_seq into latest;
  insert into audit_log (org_id, seq, occurred_at, actor_kind, actor_id, actor_name, api_key_id, action, resource_type,
    resource, request_id, request_digest, address, details)
  select org, latest - entries + entry.position, to_timestamp(at_time), entry.actor_kind, entry.actor_id, entry.actor_name,
    entry.api_key_id, entry.action, entry.resource_type, entry.resource, entry.request_id,
    decode(entry.request_digest, 'hex'), entry.address, entry.details
  from rows from (json_to_recordset(given) as (actor_kind text, actor_id uuid, actor_name text, api_key_id uuid, action text,
    resource_type text, resource text, request_id text, request_digest text, address text, details jsonb))
    with ordinality as entry (actor_kind, actor_id, actor_name, api_key_id, action, resource_type, resource, request_id,
      request_digest, address, details, position);
end
$$;
