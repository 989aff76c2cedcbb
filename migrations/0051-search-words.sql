-- waybill: rewrites
-- What things are called, so that they are found by the beginning of their name or of any word in it. Kept by triggers, so
-- that it is right whoever writes.

create table search_words (
  org_id uuid not null,
  kind text collate "C" not null check (kind in ('environment', 'flow', 'artifact', 'repo', 'policy', 'control',
    'attestation_type', 'pull_request', 'ticket')),
  -- Whether it begins with a word behind the first.
  later boolean not null,
  -- In lower case, shortened.
  text text collate "C" not null,
  -- What is called so; the flow of artifacts, the attestation that names a pull request or a ticket.
  ref uuid not null,
  -- Of which it is the end; shortened.
  name text collate "C" not null
);
-- Pages of matches, in the order of their texts; of one text the newest first.
create unique index search_words_text on search_words (org_id, kind, later, text, ref desc, name);
-- What there is of a thing whose name may change, or of which there may be another report under the name.
create index search_words_ref on search_words (org_id, kind, ref, name) where kind not in ('pull_request', 'ticket');
-- As in 0026: a new organization must not look empty.
alter table search_words alter column org_id set statistics 0;

-- The name from each of its words on, at most 12 of them: letters and digits between marks.
create function search_texts(name text) returns table (later boolean, text text)
  language sql immutable parallel safe as $$
  select part > 1, left(array_to_string(parts[part:], ''), 128)
  from (select string_to_array(regexp_replace(lower(left(name, 256) collate "C"),
    '([][ /:;,.@#+~()_-]+)([^][ /:;,.@#+~()_-])', E'\\1\x01\\2', 'g'), E'\x01')) as words (parts),
    generate_series(1, least(cardinality(parts), 12)) as part
$$;

-- The name of an artifact without tag and digest, which differ from build to build.
create function search_base(filename text) returns text
  language sql immutable parallel safe as $$
  select left(regexp_replace(regexp_replace(filename collate "C", '@[a-z0-9]+:[a-f0-9]+$', ''),
    ':[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$', ''), 256)
$$;

-- What an attestation says of pull requests and tickets, the first 20: of a pull request its address and its number.
create function search_mentions(type text, data json) returns table (kind text, later boolean, text text, name text)
  language sql immutable parallel safe as $$
  select distinct said.kind, said.later, left(lower(said.text collate "C"), 128), left(said.name, 256)
  from (
    select 'ticket', false, issue ->> 'issue_id', issue ->> 'issue_id'
    from json_array_elements(case when type = 'jira' and json_typeof(data -> 'jira_results') = 'array'
      then data -> 'jira_results' else '[]' end) with ordinality as issues (issue, place) where place <= 20
    union all
    select 'pull_request', shown.later, shown.text, url.name
    from json_array_elements(case when type = 'pull_request' and json_typeof(data -> 'pull_requests') = 'array'
      then data -> 'pull_requests' else '[]' end) with ordinality as pulls (pull, place)
    cross join lateral (select regexp_replace(pull ->> 'url', '^[a-z]+://', '') as name) as url
    cross join lateral (values (false, url.name), (true, substring(url.name from '[0-9]+$'))) as shown (later, text)
    where place <= 20
  ) as said (kind, later, text, name)
  where said.text <> ''
$$;

-- Arguments: the kind, the column that says it is archived ('' for none), the columns with names.
create function keep_search_words() returns trigger
  language plpgsql as $$
declare
  old_row jsonb := case when tg_op = 'UPDATE' then to_jsonb(old) end;
  new_row jsonb := to_jsonb(new);
  is_gone boolean := coalesce(new_row ->> tg_argv[1], 'false') <> 'false';
  was_gone boolean := coalesce(old_row ->> tg_argv[1], 'false') <> 'false';
begin
  if tg_op = 'UPDATE' then
    if is_gone = was_gone and not exists (
      select from unnest(tg_argv[2:]) as c (name) where new_row -> c.name is distinct from old_row -> c.name) then
      return null;
    end if;
    delete from search_words where org_id = new.org_id and kind = tg_argv[0] and ref = new.id
      and kind not in ('pull_request', 'ticket');
  end if;
  insert into search_words (org_id, kind, later, text, ref, name)
  select new.org_id, tg_argv[0], t.later, t.text, new.id, left(new_row ->> c.name, 256)
  from unnest(tg_argv[2:]) as c (name) cross join lateral search_texts(new_row ->> c.name) t
  where not is_gone
  on conflict do nothing;
  return null;
end
$$;

create trigger environments_search_new after insert on environments
  for each row execute function keep_search_words('environment', 'archived_at', 'name');
create trigger environments_search after update of name, archived_at on environments
  for each row execute function keep_search_words('environment', 'archived_at', 'name');
create trigger flows_search_new after insert on flows
  for each row execute function keep_search_words('flow', 'archived_at', 'name');
create trigger flows_search after update of name, archived_at on flows
  for each row execute function keep_search_words('flow', 'archived_at', 'name');
create trigger repos_search_new after insert on repos
  for each row execute function keep_search_words('repo', '', 'name');
create trigger repos_search after update of name on repos
  for each row execute function keep_search_words('repo', '', 'name');
create trigger policies_search_new after insert on policies
  for each row execute function keep_search_words('policy', '', 'name');
create trigger policies_search after update of name on policies
  for each row execute function keep_search_words('policy', '', 'name');
create trigger controls_search_new after insert on controls
  for each row execute function keep_search_words('control', 'archived', 'name', 'identifier');
create trigger controls_search after update of name, identifier, archived on controls
  for each row execute function keep_search_words('control', 'archived', 'name', 'identifier');
create trigger attestation_types_search_new after insert on attestation_types
  for each row execute function keep_search_words('attestation_type', 'archived_at', 'name');
create trigger attestation_types_search after update of name, archived_at on attestation_types
  for each row execute function keep_search_words('attestation_type', 'archived_at', 'name');

-- Most artifacts are another build of what the flow built before, and write nothing.
create function keep_artifact_words() returns trigger
  language plpgsql as $$
begin
  insert into search_words (org_id, kind, later, text, ref, name)
  select n.org_id, 'artifact', t.later, t.text, n.flow_id, n.name
  from (select distinct org_id, flow_id, search_base(filename) as name from new_rows) n
  cross join lateral search_texts(n.name) t
  -- Not "not exists": the planner would be free to read all words for it.
  where (select w.ref from search_words w where w.org_id = n.org_id and w.kind = 'artifact' and w.ref = n.flow_id
    and w.name = n.name limit 1) is null
  order by n.org_id, n.flow_id, n.name, t.later, t.text
  on conflict do nothing;
  return null;
end
$$;
create trigger artifacts_search_new after insert on artifacts
  referencing new table as new_rows for each statement execute function keep_artifact_words();

create function keep_attestation_words() returns trigger
  language plpgsql as $$
begin
  if exists (select from new_rows where type in ('jira', 'pull_request')) then
    insert into search_words (org_id, kind, later, text, ref, name)
    select a.org_id, m.kind, m.later, m.text, a.id, m.name
    from new_rows a cross join lateral search_mentions(a.type, a.type_data) m
    where a.type in ('jira', 'pull_request')
    order by a.id, m.kind, m.later, m.text
    on conflict do nothing;
  end if;
  return null;
end
$$;
create trigger attestations_search_new after insert on attestations
  referencing new table as new_rows for each statement execute function keep_attestation_words();

-- Trails are too many for words: they are found by the beginning of their names.
create index trails_search on trails (org_id, lower(name), id desc);

insert into search_words (org_id, kind, later, text, ref, name)
select named.org_id, named.kind, t.later, t.text, named.id, left(named.name, 256)
from (
  select org_id, 'environment' as kind, id, name from environments where archived_at is null
  union all select org_id, 'flow', id, name from flows where archived_at is null
  union all select org_id, 'repo', id, name from repos
  union all select org_id, 'policy', id, name from policies
  union all select org_id, 'control', id, name from controls where not archived
  union all select org_id, 'control', id, identifier from controls where not archived
  union all select org_id, 'attestation_type', id, name from attestation_types where archived_at is null
  union all (select distinct org_id, 'artifact', flow_id, search_base(filename) from artifacts)
) named cross join lateral search_texts(named.name) t
on conflict do nothing;

insert into search_words (org_id, kind, later, text, ref, name)
select a.org_id, m.kind, m.later, m.text, a.id, m.name
from attestations a cross join lateral search_mentions(a.type, a.type_data) m
where a.type in ('jira', 'pull_request')
on conflict do nothing;
