import { sql } from "kysely";

import { json, jsonbOrNull, moment } from "../../db/columns.ts";
import type { Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { ExactJson, writeJson } from "../../lib/exact-json.ts";
import { repoInEvent } from "./repo-in-event.ts";

/** What reports say about a trail, as it is kept. */
export interface TrailFacts {
  description: string;
  git_commit_info: unknown;
  origin_url: string | null;
  external_urls: unknown;
  user_data: ExactJson;
  template: string;
  template_id: string;
  repo_ids: string[];
}

/** Identifies a trail. */
export interface TrailKey {
  flow_id: string;
  name: string;
}

export interface NewTrail extends TrailKey, TrailFacts {
  id: string;
  created_at: Timestamp;
  created_by_name: string;
}

function columnsOf(facts: TrailFacts) {
  return {
    description: facts.description,
    git_commit_info: jsonbOrNull(facts.git_commit_info),
    origin_url: facts.origin_url,
    external_urls: jsonbOrNull(facts.external_urls),
    user_data: json(facts.user_data),
    template: facts.template,
    template_id: facts.template_id,
    repo_ids: facts.repo_ids,
  };
}

/**
 * Inserts a trail unless there is one of this name in the flow, waiting for others who are about to begin it.
 * @returns whether it was inserted.
 */
export async function insertTrail(tx: Tx, orgId: string, trail: NewTrail): Promise<boolean> {
  const at = moment(trail.created_at);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("trails")
    .values({
      ...columnsOf(trail),
      org_id: orgId,
      id: trail.id,
      flow_id: trail.flow_id,
      name: trail.name,
      created_at: at,
      created_by_name: trail.created_by_name,
      last_modified_at: at,
    })
    .onConflict((conflict) => conflict.columns(["org_id", "flow_id", "name"]).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows !== 0n;
}

export interface TrailRow extends TrailFacts {
  id: string;
}

/** The trail of this name, which must exist, locked against other writers until the transaction ends. */
export async function getTrailLocked(tx: Tx, orgId: string, key: TrailKey): Promise<TrailRow> {
  const { user_data, ...row } = await tx
    .selectFrom("trails")
    .select([
      "id",
      "description",
      "git_commit_info",
      "origin_url",
      "external_urls",
      sql<string>`user_data::text`.as("user_data"),
      "template",
      "template_id",
      "repo_ids",
    ])
    .where("org_id", "=", orgId)
    .where("flow_id", "=", key.flow_id)
    .where("name", "=", key.name)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return { ...row, user_data: ExactJson.ofText(user_data) };
}

/** Replaces what is known of a trail. */
export async function updateTrail(tx: Tx, orgId: string, trail: TrailRow, at: Timestamp): Promise<void> {
  await tx
    .updateTable("trails")
    .set({
      ...columnsOf(trail),
      last_modified_at: sql`greatest(last_modified_at, ${moment(at)})`,
    })
    .where("org_id", "=", orgId)
    .where("id", "=", trail.id)
    .execute();
}

export interface NewTrailEvent {
  id: string;
  trail_id: string;
  type: "trail_reported" | "trail_updated";
  occurred_at: Timestamp;
  data: Record<string, unknown>;
  /** Internal id of the repo the report came from. */
  repo_id: string | null;
}

/** Appends to a trail's events. The repo is kept as it is known at this moment. */
export async function insertTrailEvent(tx: Tx, orgId: string, event: NewTrailEvent): Promise<void> {
  const opened = `${writeJson(event.data).slice(0, -1)},"repo_info":`;
  await sql`
    insert into trail_events (org_id, trail_id, id, occurred_at, type, data)
    values (${orgId}, ${event.trail_id}, ${event.id}, ${moment(event.occurred_at)}, ${event.type},
      (${opened}::text || coalesce((select ${repoInEvent}::text from repos r
        where r.org_id = ${orgId} and r.id = ${event.repo_id}::uuid), 'null') || '}')::json)`.execute(tx);
}
