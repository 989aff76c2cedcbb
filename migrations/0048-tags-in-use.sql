-- Which tags there are, for who chooses one to filter by: a row for each tag of each live resource, so that whoever tags
-- waits for nobody, and an index that skips from one key or value to the next.

create table tags_in_use (
  org_id uuid not null,
  kind text not null check (kind in ('environment', 'flow', 'repo', 'control')),
  resource_id uuid not null,
  key text collate "C" not null,
  -- Null where it is too long to be chosen, or to be held by an index.
  value text collate "C",
  primary key (org_id, kind, resource_id, key)
  -- No foreign key: triggers write it, together with the resource.
);
create index tags_in_use_choices on tags_in_use (org_id, kind, key, value);

create function choosable(value text) returns text
  language sql immutable parallel safe return case when length(value) <= 256 then value end;

insert into tags_in_use (org_id, kind, resource_id, key, value)
select org_id, 'environment', id, key, choosable(value) from environments cross join jsonb_each_text(tags) where archived_at is null
union all
select org_id, 'flow', id, key, choosable(value) from flows cross join jsonb_each_text(tags) where archived_at is null
union all
select org_id, 'repo', id, key, choosable(value) from repos cross join jsonb_each_text(tags)
union all
select org_id, 'control', id, key, choosable(value) from controls cross join jsonb_each_text(tags) where not archived;
analyze tags_in_use;

-- The argument is the kind, and whether these can be archived, as their row as JSON says.
create function note_tags() returns trigger
  language plpgsql as $$
declare
  is_live boolean := not coalesce((to_jsonb(new) ->> 'archived')::boolean, to_jsonb(new) ->> 'archived_at' is not null);
begin
  delete from tags_in_use where org_id = new.org_id and kind = tg_argv[0] and resource_id = new.id;
  if is_live then
    insert into tags_in_use (org_id, kind, resource_id, key, value)
    select new.org_id, tg_argv[0], new.id, key, choosable(value) from jsonb_each_text(new.tags);
  end if;
  return null;
end
$$;
create trigger environments_tags_new after insert on environments
  for each row when (new.tags <> '{}') execute function note_tags('environment');
create trigger environments_tags_changed after update of tags, archived_at on environments
  for each row when (old.tags <> new.tags or (old.archived_at is null) <> (new.archived_at is null))
  execute function note_tags('environment');
create trigger flows_tags_new after insert on flows
  for each row when (new.tags <> '{}') execute function note_tags('flow');
create trigger flows_tags_changed after update of tags, archived_at on flows
  for each row when (old.tags <> new.tags or (old.archived_at is null) <> (new.archived_at is null))
  execute function note_tags('flow');
create trigger repos_tags_new after insert on repos
  for each row when (new.tags <> '{}') execute function note_tags('repo');
create trigger repos_tags_changed after update of tags on repos
  for each row when (old.tags <> new.tags) execute function note_tags('repo');
create trigger controls_tags_new after insert on controls
  for each row when (new.tags <> '{}') execute function note_tags('control');
create trigger controls_tags_changed after update of tags, archived on controls
  for each row when (old.tags <> new.tags or old.archived <> new.archived) execute function note_tags('control');
