-- How often each tag is in use, exact in the transactions that tag: choices are read off it without stepping over every
-- resource, and lists by a tag know their number.

-- Whatever holds a tag, by its id, without looking at the row.
drop index tags_in_use_choices;
create index tags_in_use_holders on tags_in_use (org_id, kind, key, value, resource_id);
drop index environment_policies_policy;
create index environment_policies_environments on environment_policies (org_id, policy_id, environment_id);

-- Several rows of a tag have to be added up: whoever tags takes those that nobody else is changing and makes one of them, so
-- that nobody waits. A tag that nothing has any more has no rows, or some that add up to nothing until it is used again.
create table tag_tallies (
  org_id uuid not null,
  kind text not null,
  key text collate "C" not null,
  -- As in tags_in_use, but that long ones, which are null there, are told by themselves.
  is_long boolean not null,
  value text collate "C" not null,
  slot bigint generated always as identity,
  uses bigint not null,
  primary key (org_id, kind, key, is_long, value, slot)
);

insert into tag_tallies (org_id, kind, key, is_long, value, uses)
select org_id, kind, key, value is null, coalesce(value, ''), count(*) from tags_in_use group by 1, 2, 3, 4, 5;
analyze tag_tallies;

create function add_to_tag_tallies(org uuid, of_kind text, k text, v text, n bigint) returns void
  language sql as $$
  with free as (
    select slot from tag_tallies
    where org_id = org and kind = of_kind and key = k and is_long = (v is null) and value = coalesce(v, '')
    for update skip locked
  ), gone as (
    delete from tag_tallies
    where org_id = org and kind = of_kind and key = k and is_long = (v is null) and value = coalesce(v, '')
      and slot in (select slot from free)
    returning uses
  )
  insert into tag_tallies (org_id, kind, key, is_long, value, uses)
  select org, of_kind, k, v is null, coalesce(v, ''), n + coalesce(sum(uses), 0) from gone
  having n + coalesce(sum(uses), 0) <> 0
$$;

-- Touches only tags that others than before have.
create or replace function note_tags() returns trigger
  language plpgsql as $$
declare
  is_live boolean := not coalesce((to_jsonb(new) ->> 'archived')::boolean, to_jsonb(new) ->> 'archived_at' is not null);
  wanted jsonb := case when is_live then new.tags else '{}' end;
  tag record;
begin
  for tag in
    delete from tags_in_use u
    where u.org_id = new.org_id and u.kind = tg_argv[0] and u.resource_id = new.id
      and (not wanted ? u.key or choosable(wanted ->> u.key) is distinct from u.value)
    returning u.key, u.value
  loop
    perform add_to_tag_tallies(new.org_id, tg_argv[0], tag.key, tag.value, -1);
  end loop;
  for tag in
    insert into tags_in_use (org_id, kind, resource_id, key, value)
    select new.org_id, tg_argv[0], new.id, t.key, choosable(t.value) from jsonb_each_text(wanted) t
    on conflict do nothing
    returning key, value
  loop
    perform add_to_tag_tallies(new.org_id, tg_argv[0], tag.key, tag.value, 1);
  end loop;
  return null;
end
$$;
