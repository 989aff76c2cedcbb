-- What a batch of attestations is written with, in one statement and so in a transaction of its own: `write_attestations`. The
-- functions below it are the parts of that, which longer transactions call one by one. Each takes the organization first and
-- names it wherever it reads or writes.

-- Appends to the organization's audit log, in this order and without gaps. The organization's counter stays locked until the
-- transaction ends, which is what makes the order total: append last.
create function append_to_audit_log(org uuid, at_time float8, given json) returns void
  language plpgsql as $$
#variable_conflict use_column
declare
  entries bigint := json_array_length(given);
  latest bigint;
begin
  update org_counters set audit_seq = audit_seq + entries where org_id = org returning audit_seq into latest;
  insert into audit_log (org_id, seq, occurred_at, actor_kind, actor_id, actor_name, api_key_id, action, resource_type,
    resource, request_id, request_digest)
  select org, latest - entries + entry.position, to_timestamp(at_time), entry.actor_kind, entry.actor_id, entry.actor_name,
    entry.api_key_id, entry.action, entry.resource_type, entry.resource, entry.request_id,
    decode(entry.request_digest, 'hex')
  from rows from (json_to_recordset(given) as (actor_kind text, actor_id uuid, actor_name text, api_key_id uuid, action text,
    resource_type text, resource text, request_id text, request_digest text))
    with ordinality as entry (actor_kind, actor_id, actor_name, api_key_id, action, resource_type, resource, request_id,
      request_digest, position);
end
$$;

-- Inserts attestations, whose trails exist and are locked; decisions keep the version that their control has now. Keeps the
-- heads that trails are judged by.
create function store_attestations(org uuid, given json) returns void
  language plpgsql as $$
#variable_conflict use_column
begin
  insert into attestations (org_id, id, flow_id, trail_id, name, type, is_compliant, is_override, artifact_fingerprint,
    target_artifacts, git_commit, git_commit_info, repo_id, description, origin_url, external_urls, annotations, user_data,
    type_data, control_identifier, control_version, evidence_id, created_at, created_by_name)
  select org, i.id, i.flow_id, i.trail_id, i.name, i.type, i.is_compliant, i.is_override, i.artifact_fingerprint,
    i.target_artifacts, i.git_commit_info ->> 'sha1', i.git_commit_info, i.repo_id, i.description, i.origin_url,
    i.external_urls, i.annotations, i.user_data, i.type_data, i.control_identifier,
    (select c.version from controls c where c.org_id = org and c.identifier = i.control_identifier),
    i.evidence_id, to_timestamp(i.created_at), i.created_by_name
  from json_to_recordset(given) as i (id uuid, flow_id uuid, trail_id uuid, name text, type text, is_compliant boolean,
    is_override boolean, artifact_fingerprint text, target_artifacts text[], git_commit_info jsonb, repo_id uuid,
    description text, origin_url text, external_urls jsonb, annotations json, user_data json, type_data json,
    control_identifier text, evidence_id uuid, created_at float8, created_by_name text)
  order by i.id;
  insert into attestation_heads as h (org_id, trail_id, kind, place, name, type, first_id, latest_id, latest_plain_id)
  select org, i.trail_id, p.kind, p.place, i.name, i.type, (array_agg(i.id order by i.id))[1],
    (array_agg(i.id order by i.id desc))[1], (array_agg(i.id order by i.id desc) filter (where not i.is_override))[1]
  from json_to_recordset(given) as i (id uuid, trail_id uuid, name text, type text, is_override boolean,
    artifact_fingerprint text, target_artifacts text[], git_commit_info json)
  cross join lateral attestation_places(i.artifact_fingerprint, i.target_artifacts, i.git_commit_info ->> 'sha1') p
  group by i.trail_id, p.kind, p.place, i.name, i.type
  order by i.trail_id, p.kind, p.place, i.name, i.type
  on conflict (org_id, trail_id, kind, place, name, type) do update set
    first_id = least(h.first_id, excluded.first_id), latest_id = greatest(h.latest_id, excluded.latest_id),
    latest_plain_id = greatest(h.latest_plain_id, excluded.latest_plain_id);
end
$$;

-- Stores verdicts in place of those that trails had, what they come to in short, and notes which trail of each flow was last
-- reported to, and its latest artifact if it is among `origins`. Rows are locked in order, so that writers of several trails
-- do not deadlock.
create function store_verdicts(org uuid, given json, origins json) returns void
  language plpgsql as $$
#variable_conflict use_column
begin
  insert into flow_activity as known (org_id, flow_id, trail_id, last_modified_at, state, active_minute, json, artifact_id,
    repo_id, repo_url)
  select distinct on (t.flow_id) org, t.flow_id, t.id, t.last_modified_at, v.state,
    date_trunc('minute', t.last_modified_at at time zone 'UTC'),
    epoch(t.last_modified_at)::text || ',"latest_state":"' || v.state || '"}',
    o.artifact_id, o.repo_id, o.repo_url
  from json_to_recordset(given) as v (trail_id uuid, state text)
  cross join lateral (
    select t.id, t.flow_id, t.last_modified_at from trails t where t.org_id = org and t.id = v.trail_id limit 1) t
  left join json_to_recordset(origins) as o (flow_id uuid, artifact_id uuid, repo_id uuid, repo_url text)
    on o.flow_id = t.flow_id
  order by t.flow_id, t.last_modified_at desc, t.id desc
  on conflict (org_id, flow_id) do update set
    trail_id = case when (excluded.last_modified_at, excluded.trail_id) >= (known.last_modified_at, known.trail_id)
      then excluded.trail_id else known.trail_id end,
    last_modified_at = greatest(excluded.last_modified_at, known.last_modified_at),
    state = case when (excluded.last_modified_at, excluded.trail_id) >= (known.last_modified_at, known.trail_id)
      then excluded.state else known.state end,
    active_minute = case when (excluded.last_modified_at, excluded.trail_id) >= (known.last_modified_at, known.trail_id)
      then excluded.active_minute else known.active_minute end,
    json = case when (excluded.last_modified_at, excluded.trail_id) >= (known.last_modified_at, known.trail_id)
      then excluded.json else known.json end,
    artifact_id = greatest(known.artifact_id, excluded.artifact_id),
    repo_id = case when coalesce(excluded.artifact_id > known.artifact_id, excluded.artifact_id is not null)
      then excluded.repo_id else known.repo_id end,
    repo_url = case when coalesce(excluded.artifact_id > known.artifact_id, excluded.artifact_id is not null)
      then excluded.repo_url else known.repo_url end
  where (excluded.last_modified_at, excluded.trail_id) >= (known.last_modified_at, known.trail_id)
    or coalesce(excluded.artifact_id > known.artifact_id, excluded.artifact_id is not null);
  insert into trail_compliance (org_id, trail_id, state, own_state, artifact_states, status, evaluated_at, own_digest)
  select org, v.trail_id, v.state, v.own_state, v.artifact_states, v.status::json, to_timestamp(v.evaluated_at), v.own_digest
  from json_to_recordset(given) as v (trail_id uuid, state text, own_state text, artifact_states jsonb, status text,
    evaluated_at float8, own_digest text)
  order by v.trail_id
  on conflict (org_id, trail_id) do update set
    state = excluded.state, own_state = excluded.own_state, artifact_states = excluded.artifact_states,
    status = excluded.status, evaluated_at = excluded.evaluated_at, own_digest = excluded.own_digest;
  insert into trail_outcomes as known (org_id, trail_id, state, compliant_since, reported_names, failing_names, missing_names)
  select org, v.trail_id, v.state, case when v.state = 'COMPLIANT' then to_timestamp(v.reported_at) end, n.reported, n.failing,
    n.missing
  from json_to_recordset(given) as v (trail_id uuid, state text, reported_at float8, names json)
  cross join lateral json_to_record(v.names) as n (reported text[], failing text[], missing text[])
  order by v.trail_id
  on conflict (org_id, trail_id) do update set
    state = excluded.state, reported_names = excluded.reported_names, failing_names = excluded.failing_names,
    missing_names = excluded.missing_names,
    compliant_since = case when excluded.state = 'COMPLIANT'
      then coalesce(known.compliant_since, excluded.compliant_since) end
  where (known.state, known.reported_names, known.failing_names, known.missing_names)
    is distinct from (excluded.state, excluded.reported_names, excluded.failing_names, excluded.missing_names);
end
$$;

-- Moves trails on that were looked at, adds repos to them, and begins those that were not there with the template of their flow.
-- Rows are locked in the order flows, trails, in the order of flow and name.
-- Returns false, having written nothing, when a flow has another name by now, is archived, or a trail was written since.
-- Raises serialization_failure when a trail was begun by somebody else, or its flow has another template.
create function move_trails(org uuid, given json) returns boolean
  language plpgsql as $$
#variable_conflict use_column
declare
  wanted integer := json_array_length(given);
  seen integer;
  held integer;
begin
  select count(*), count(i.version) into held, seen
  from json_to_recordset(given) as i (flow_id uuid, flow_name text, version text)
  cross join lateral (
    select from flows f
    where f.org_id = org and f.id = i.flow_id and f.name = i.flow_name and f.archived_at is null
    limit 1 for key share) f;
  if held < wanted then
    return false;
  end if;
  if seen > 0 then
    select count(*) into held
    from (
      select * from json_to_recordset(given) as i (id uuid, flow_id uuid, name text, version text)
      where i.version is not null order by i.flow_id, i.name collate "C") i
    cross join lateral (
      select t.xmin::text as version from trails t where t.org_id = org and t.id = i.id limit 1 for no key update) t
    where t.version = i.version;
    if held < seen then
      return false;
    end if;
    update trails t set last_modified_at = greatest(t.last_modified_at, to_timestamp(i.last_modified_at)),
      repo_ids = t.repo_ids || array(
        select added.id from unnest(i.repo_ids) with ordinality as added (id, position)
        where added.id <> all (t.repo_ids) order by added.position)
    from json_to_recordset(given) as i (id uuid, version text, last_modified_at float8, repo_ids uuid[])
    -- The array says what the join says; with it the rows are looked up, however little is known about the table.
    where t.org_id = org and t.id = i.id and i.version is not null and t.id = any (array(
      select s.id from json_to_recordset(given) as s (id uuid)));
  end if;
  if seen < wanted then
    insert into trails as t (org_id, id, flow_id, name, description, git_commit_info, template, template_id, repo_ids,
      created_at, created_by_name, last_modified_at)
    select org, i.id, i.flow_id, i.name, i.description, i.git_commit_info, f.template, f.template_id, i.repo_ids,
      to_timestamp(i.created_at), i.created_by_name, to_timestamp(i.last_modified_at)
    from json_to_recordset(given) as i (id uuid, flow_id uuid, name text, version text, template_id uuid, description text,
      git_commit_info jsonb, repo_ids uuid[], created_at float8, created_by_name text, last_modified_at float8)
    cross join lateral (
      select f.template, f.template_id from flows f
      where f.org_id = org and f.id = i.flow_id and f.template_id = i.template_id limit 1) f
    where i.version is null
    order by i.flow_id, i.name collate "C"
    on conflict (org_id, flow_id, name) do nothing;
    get diagnostics held = row_count;
    if held < wanted - seen then
      raise serialization_failure using message = 'A trail was begun by somebody else meanwhile';
    end if;
    perform record_begun_trails(org, given);
  end if;
  return true;
end
$$;

-- Writes attestations with all that follows from them, for trails that were looked at and are as they were then.
-- Returns false, having written nothing, and raises what `move_trails` does.
create function write_attestations(org uuid, trails json, attestations json, verdicts json, entries json, at_time float8)
  returns boolean language plpgsql as $$
begin
  if not move_trails(org, trails) then
    return false;
  end if;
  perform store_attestations(org, attestations);
  perform store_verdicts(org, verdicts, '[]');
  perform append_to_audit_log(org, at_time, entries);
  return true;
end
$$;
