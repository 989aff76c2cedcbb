-- Helpers that every later migration uses.

create extension if not exists pg_trgm;

-- The form an id takes on the wire: hex in groups 8-4-4-4-8. Every id ends in four zero digits, so nothing is lost.
create function wire_id(id uuid) returns text
  language sql immutable strict parallel safe
  return left(id::text, 32);

-- A moment as it crosses the wire: Unix seconds with a microsecond fraction. By way of UTC, because what depends on no
-- setting can be put into the statements that use it, which is ten times as fast as a call.
create function epoch(moment timestamptz) returns numeric
  language sql immutable strict parallel safe
  return extract(epoch from moment at time zone 'UTC');

-- A text as it stands in JSON, quotes included.
create function json_text(value text) returns text
  language sql immutable strict parallel safe
  return to_json(value)::text;

-- Guards tables of record: what was written once is never changed or removed.
create function forbid_change() returns trigger
  language plpgsql as $$
begin
  raise exception 'table % is insert-only', tg_table_name using errcode = 'restrict_violation';
end
$$;

-- Guards tables whose rows others name without a foreign key: what is there when it is named stays there.
create function forbid_removal() returns trigger
  language plpgsql as $$
begin
  raise exception 'rows of table % are never removed', tg_table_name using errcode = 'restrict_violation';
end
$$;

-- Facts about this installation as a whole.
create table instance_settings (
  name text primary key,
  value text not null
);
