import { sql } from "kysely";

import type { Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { repoInEvent } from "./repo-in-event.ts";

/** A trail in its flow. */
export interface TrailKey {
  flow_id: string;
  name: string;
}

/** A trail that there is now. */
export interface KeptTrail extends TrailKey {
  id: string;
  /** Whether it was begun by this statement. */
  begun: boolean;
}

/** News about a trail, and what it begins with if it does not exist. */
export interface ReportedTrail extends TrailKey {
  /** Internal ids of the repos that reports came from. */
  repo_ids: string[];
  last_modified_at: Timestamp;
  id: string;
  event_id: string;
  description: string;
  git_commit_info: unknown;
  /** The commit as trails show it. */
  shown_commit: unknown;
  created_at: Timestamp;
  created_by_name: string;
  /** Wire id of the creator. */
  creating_user_id: string | null;
}

/**
 * Moves `last_modified_at` of trails on and adds repos to them; begins those that do not exist with the template their flow
 * has now, and records that they were reported. Rows are locked in the order of flow and name, so that writers of several
 * trails do not deadlock. Trails that somebody else has begun meanwhile are passed over: call it again for them.
 * @returns those moved on or begun.
 */
export async function keepTrails(
  tx: Tx,
  orgId: string,
  trails: readonly ReportedTrail[],
): Promise<KeptTrail[]> {
  const { rows } = await sql<KeptTrail>`
    /* keep-trails */ with input as materialized (
      select * from json_to_recordset(${JSON.stringify(trails)}::json)
        as i (id uuid, event_id uuid, flow_id uuid, name text, description text, git_commit_info jsonb,
          shown_commit jsonb, repo_ids uuid[], created_at float8, last_modified_at float8, created_by_name text, creating_user_id text)
    ), locked as materialized (
      select t.id, i.repo_ids, i.last_modified_at as at
      from (select * from input order by flow_id, name collate "C") i
      cross join lateral (
        select t.id from trails t where t.org_id = ${orgId} and t.flow_id = i.flow_id and t.name = i.name
        limit 1 for no key update) t
    ), moved as (
      update trails t set last_modified_at = greatest(t.last_modified_at, to_timestamp(l.at)),
        repo_ids = t.repo_ids || array(
          select added.id from unnest(l.repo_ids) with ordinality as added (id, position)
          where added.id <> all (t.repo_ids) order by added.position)
      from locked l
      -- The array says what the join says; with it the rows are looked up, however little is known about the table.
      where t.org_id = ${orgId} and t.id = l.id and t.id = any (array(select id from locked))
      returning t.id, t.flow_id, t.name
    ), begun as (
      insert into trails as t (org_id, id, flow_id, name, description, git_commit_info, template, template_id, repo_ids, created_at,
        created_by_name, last_modified_at)
      select ${orgId}, i.id, i.flow_id, i.name, i.description, i.git_commit_info, f.template, f.template_id, i.repo_ids,
        to_timestamp(i.created_at), i.created_by_name, to_timestamp(i.last_modified_at)
      from input i
      cross join lateral (
        select template, template_id from flows where org_id = ${orgId} and id = i.flow_id limit 1) f
      where not exists (select from moved m where m.flow_id = i.flow_id and m.name = i.name)
      order by i.flow_id, i.name collate "C"
      on conflict (org_id, flow_id, name) do nothing
      returning t.id, t.flow_id, t.name, t.template_id, t.repo_ids
    ), recorded as (
      insert into trail_events (org_id, trail_id, id, occurred_at, type, data)
      select ${orgId}, b.id, i.event_id, to_timestamp(i.created_at), 'trail_reported', json_build_object(
        'git_commit_info', i.git_commit_info,
        'repo_info', (select ${repoInEvent} from repos r where r.org_id = ${orgId} and r.id = i.repo_ids[1]),
        'setting_user_id', i.creating_user_id,
        'trail_data_json', json_build_object(
          'org_id', wire_id(${orgId}::uuid), 'flow_id', wire_id(b.flow_id), 'name', b.name,
          'creating_user_id', i.creating_user_id, 'description', i.description, 'git_commit_info', i.shown_commit,
          'template_id', wire_id(b.template_id), 'origin_url', null, 'user_data', '{}',
          'repo_ids', (select coalesce(json_agg(wire_id(id)), '[]') from unnest(b.repo_ids) as id)))
      from begun b join input i on i.id = b.id
    )
    select id, flow_id, name, false as begun from moved
    union all
    select id, flow_id, name, true from begun`.execute(tx);
  return rows;
}
