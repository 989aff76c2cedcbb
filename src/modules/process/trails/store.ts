import type { Tx } from "../../../db/connect.ts";
import { boolean, nullable, type RowOf, text, uuid, uuids } from "../../../db/row.ts";
import { json, moment, param, query, type Sql, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { ExactJson } from "../../../lib/exact-json.ts";
import { beganEvent, begunAs, changedEvent, columnsForEvents, trailEventColumns } from "./event-sql.ts";

/** Identifies a trail. */
export interface TrailKey {
  flow_id: string;
  name: string;
}

/**
 * What a report says about a trail that may be lists or objects of any length, as JSON; null for what it does not say. Only the
 * database compares it with what is kept: this program would do that in one go.
 */
export interface LargeFacts {
  git_commit_info: string | null;
  external_urls: string | null;
}

/** What reports say about a trail, as it is kept. */
export interface TrailFacts {
  description: string;
  origin_url: string | null;
  user_data: ExactJson;
  template: string;
  template_id: string;
  repo_ids: string[];
}

export interface NewTrail extends TrailKey, TrailFacts, LargeFacts {
  id: string;
  event_id: string;
  created_at: Timestamp;
  created_by_name: string;
  creating_user_id: string;
}

/**
 * Inserts a trail with its first event, unless there is one of this name in the flow, waiting for others who are about to
 * begin it.
 * @returns whether it was inserted.
 */
export async function insertTrail(tx: Tx, orgId: string, trail: NewTrail): Promise<boolean> {
  const at = moment(trail.created_at);
  const org = param(orgId);
  const event = { org, id: sql`${trail.event_id}`, at, userId: sql`${trail.creating_user_id}` };
  const begun = await tx.first(query({ id: uuid })`
    with begun as (
      insert into trails as t (org_id, id, flow_id, name, description, git_commit_info, origin_url, external_urls,
        user_data, template, template_id, repo_ids, created_at, created_by_name, last_modified_at)
      values (${org}::uuid, ${trail.id}, ${trail.flow_id}, ${trail.name}, ${trail.description},
        ${trail.git_commit_info}::jsonb, ${trail.origin_url}, ${trail.external_urls}::jsonb, ${json(trail.user_data)},
        ${trail.template}, ${trail.template_id}, ${trail.repo_ids}, ${at}, ${trail.created_by_name}, ${at})
      on conflict (org_id, flow_id, name) do nothing
      returning ${columnsForEvents}
    ), recorded as (
      insert into trail_events (${trailEventColumns}) select ${beganEvent(event)} from begun t
    )
    select id from begun`);
  return begun !== undefined;
}

const trailRow = {
  id: uuid,
  description: text,
  origin_url: nullable(text),
  user_data: text,
  template: text,
  template_id: uuid,
  repo_ids: uuids,
  /** Whether a report says something else of it than is kept; so below. */
  commit_differs: boolean,
  urls_differ: boolean,
};

/** A trail beside what a report says. */
export type TrailRow = Omit<RowOf<typeof trailRow>, "user_data"> & { user_data: ExactJson };

function differs(column: Sql, given: string | null): Sql {
  return given === null ? sql`false` : sql`${column} is distinct from ${given}::jsonb`;
}

/** Reads the trail of this name, which must exist, and locks it against other writers until the transaction ends. */
export async function getTrailLocked(
  tx: Tx,
  orgId: string,
  key: TrailKey,
  given: LargeFacts,
): Promise<TrailRow> {
  const { user_data, ...row } = await tx.one(query(trailRow)`
    select id, description, origin_url, user_data::text as user_data, template, template_id, repo_ids,
      ${differs(sql`git_commit_info`, given.git_commit_info)} as commit_differs,
      ${differs(sql`external_urls`, given.external_urls)} as urls_differ
    from trails where org_id = ${orgId} and flow_id = ${key.flow_id} and name = ${key.name} for no key update`);
  return { ...row, user_data: ExactJson.ofText(user_data) };
}

/** A report that changes a trail. */
export interface TrailUpdate {
  event_id: string;
  setting_user_id: string;
  /** Names of what differs. */
  changes: readonly string[];
  /** Internal id of the repo the report came from. */
  repo_id: string | null;
  at: Timestamp;
}

/** Replaces what is known of a trail, but large facts that are null, and records that in its events. */
export async function updateTrail(
  tx: Tx,
  orgId: string,
  trail: TrailFacts & LargeFacts & { id: string },
  update: TrailUpdate,
): Promise<void> {
  const at = moment(update.at);
  const org = param(orgId);
  const event = {
    org,
    id: sql`${update.event_id}`,
    at,
    userId: sql`${update.setting_user_id}`,
    repoId: sql`${param(update.repo_id)}`,
    changes: sql`${update.changes}::text[]`,
  };
  await tx.run(sql`
    with updated as (
      update trails t
      set description = ${trail.description}, git_commit_info = coalesce(${trail.git_commit_info}::jsonb, t.git_commit_info),
        origin_url = ${trail.origin_url}, external_urls = coalesce(${trail.external_urls}::jsonb, t.external_urls),
        user_data = ${json(trail.user_data)}, template = ${trail.template}, template_id = ${trail.template_id},
        repo_ids = ${trail.repo_ids}, last_modified_at = greatest(last_modified_at, ${at}), begun_as = was.begun_as
      -- Apart, because Citus does not let an update compute it.
      from (select ${begunAs} as begun_as from trails t where t.org_id = ${org}::uuid and t.id = ${trail.id}) was
      where t.org_id = ${org}::uuid and t.id = ${trail.id}
      returning ${columnsForEvents}
    )
    insert into trail_events (${trailEventColumns}) select ${changedEvent(event)} from updated t`);
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
  created_at: Timestamp;
  created_by_name: string;
  creating_user_id: string | null;
}

const upsertedTrail = {
  id: uuid,
  flow_id: uuid,
  name: text,
  /** Whether it was begun by this statement. */
  begun: boolean,
};

/** A trail that exists now. */
export type UpsertedTrail = RowOf<typeof upsertedTrail>;

/**
 * Moves `last_modified_at` of trails on and adds repos to them; begins those that do not exist with the template their flow
 * has now, and records that they were reported. Rows are locked in the order of flow and name, so that writers of several
 * trails do not deadlock. Trails that somebody else has begun meanwhile are passed over: call it again for them.
 * @returns those moved on or begun.
 */
export function upsertTrails(
  tx: Tx,
  orgId: string,
  trails: readonly ReportedTrail[],
): Promise<UpsertedTrail[]> {
  const org = param(orgId);
  const event = {
    org,
    id: sql`i.event_id`,
    at: sql`to_timestamp(i.created_at)`,
    userId: sql`i.creating_user_id`,
  };
  return tx.all(query("upsert-trails", upsertedTrail)`
    with input as materialized (
      select * from json_to_recordset(${JSON.stringify(trails)}::json)
        as i (id uuid, event_id uuid, flow_id uuid, name text, description text, git_commit_info jsonb,
          repo_ids uuid[], created_at float8, last_modified_at float8, created_by_name text, creating_user_id uuid)
    ), locked as materialized (
      select t.id, i.repo_ids, i.last_modified_at as at
      from (select * from input order by flow_id, name collate "C") i
      cross join lateral (
        select t.id from trails t where t.org_id = ${org}::uuid and t.flow_id = i.flow_id and t.name = i.name
        limit 1 for no key update) t
    ), moved as (
      update trails t set last_modified_at = greatest(t.last_modified_at, to_timestamp(l.at)),
        repo_ids = t.repo_ids || array(
          select added.id from unnest(l.repo_ids) with ordinality as added (id, position)
          where added.id <> all (t.repo_ids) order by added.position)
      from locked l
      -- Every moment is between these. A range is taken for narrow, so that each row is looked up by its key (migration 0103).
      where t.org_id = ${org}::uuid and t.id = l.id and l.at between '-infinity' and 'infinity'
      returning t.id, t.flow_id, t.name
    ), begun as (
      insert into trails as t (org_id, id, flow_id, name, description, git_commit_info, template, template_id, repo_ids, created_at,
        created_by_name, last_modified_at)
      select ${org}::uuid, i.id, i.flow_id, i.name, i.description, i.git_commit_info, f.template, f.template_id, i.repo_ids,
        to_timestamp(i.created_at), i.created_by_name, to_timestamp(i.last_modified_at)
      from input i
      cross join lateral (
        select template, template_id from flows where org_id = ${org}::uuid and id = i.flow_id limit 1) f
      where not exists (select from moved m where m.flow_id = i.flow_id and m.name = i.name)
      order by i.flow_id, i.name collate "C"
      on conflict (org_id, flow_id, name) do nothing
      returning ${columnsForEvents}
    ), recorded as (
      insert into trail_events (${trailEventColumns}) select ${beganEvent(event)} from begun t join input i on i.id = t.id
    )
    select id, flow_id, name, false as begun from moved
    union all
    select id, flow_id, name, true from begun`);
}
