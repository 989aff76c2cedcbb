import { type RawBuilder, sql } from "kysely";

import type { Database, Executor } from "../../db/connect.ts";
import type { ComplianceState } from "../../domain/compliance/model.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A trail as it is read, with what is shown of its flow. */
export interface ReadTrailRow {
  id: string;
  flow_id: string;
  name: string;
  description: string;
  git_commit_info: unknown;
  origin_url: string | null;
  external_urls: unknown;
  /** JSON text as it was written. */
  user_data: string;
  template: string;
  template_id: string;
  /** Wire ids. */
  repo_ids: string[];
  created_at: Timestamp;
  created_by_name: string;
  last_modified_at: Timestamp;
  flow_name: string;
  flow_tags: Record<string, string>;
  compliance_state: ComplianceState;
  /** JSON text, because parsing would not keep the order of artifacts. */
  compliance_status: string;
}

const columns = sql`t.id, t.flow_id, t.name, t.description, t.git_commit_info, t.origin_url, t.external_urls, t.user_data::text as user_data,
  t.template, t.template_id, array(
    select wire_id(repo.id) from unnest(t.repo_ids) with ordinality as repo (id, position) order by repo.position
  ) as repo_ids, t.created_at, t.created_by_name, t.last_modified_at, f.name as flow_name, f.tags as flow_tags,
  c.state as compliance_state, c.status::text as compliance_status`;

const trailsAndFlows = sql`trails t join flows f on f.org_id = t.org_id and f.id = t.flow_id`;
// Every trail has its verdict: it is judged in the transaction that begins it.
const judgedTrails = sql`${trailsAndFlows} join trail_compliance c on c.org_id = t.org_id and c.trail_id = t.id`;

/** Reports on a trail up to which all its events are read at once. */
const fewReports = 500;

/** SQL for whether the trail `t` has more rows than that in a table. */
function hasMany(table: "artifacts" | "attestations"): RawBuilder<boolean> {
  return sql<boolean>`(select count(*) from (
    select from ${sql.table(table)} where org_id = t.org_id and trail_id = t.id limit ${sql.lit(fewReports)}) counted
  ) = ${sql.lit(fewReports)}`;
}

/** A trail to be read in full. */
export interface FoundTrail extends ReadTrailRow {
  /** It has so many events that they are better read in parts. */
  is_long: boolean;
}

/** The trail of this name in a flow, or undefined. */
export async function findTrail(
  db: Executor,
  orgId: string,
  key: { flow_id: string; name: string },
): Promise<FoundTrail | undefined> {
  const { rows } = await sql<FoundTrail>`/* find-trail */
    select ${columns}, ${hasMany("attestations")} or ${hasMany("artifacts")} as is_long from ${judgedTrails}
    where t.org_id = ${orgId} and t.flow_id = ${key.flow_id} and t.name = ${key.name}`.execute(db);
  return rows[0];
}

export interface TrailFilter {
  flow_id: string | undefined;
  /** Of the flow: a key, or a key with its value. */
  tag: { key: string; value: string | undefined } | undefined;
  /** Beginning of the fingerprint of an artifact reported to the trail. */
  fingerprint: string | undefined;
}

function conditions(filter: TrailFilter): RawBuilder<unknown> {
  const found: RawBuilder<unknown>[] = [];
  if (filter.flow_id !== undefined) found.push(sql`t.flow_id = ${filter.flow_id}`);
  if (filter.tag !== undefined)
    found.push(
      filter.tag.value === undefined
        ? sql`f.tags ? ${filter.tag.key}`
        : sql`f.tags @> ${JSON.stringify({ [filter.tag.key]: filter.tag.value })}::jsonb`,
    );
  // Hexadecimal digits sort before "g", so the range holds exactly the fingerprints that begin like this.
  if (filter.fingerprint !== undefined)
    found.push(sql`t.id in (select a.trail_id from artifacts a where a.org_id = t.org_id
      and a.fingerprint >= ${filter.fingerprint} and a.fingerprint < ${`${filter.fingerprint}g`})`);
  if (filter.flow_id === undefined && filter.fingerprint === undefined)
    found.push(sql`f.archived_at is null`);
  return found.length === 0 ? sql`true` : sql.join(found, sql` and `);
}

/** Trails that match every filter, newest first, from an offset on. */
export async function listTrails(
  db: Executor,
  orgId: string,
  filter: TrailFilter,
  page: { limit: number; offset: number },
): Promise<ReadTrailRow[]> {
  const { rows } = await sql<ReadTrailRow>`
    select ${columns} from ${judgedTrails} where t.org_id = ${orgId} and ${conditions(filter)}
    order by t.created_at desc, t.id desc
    limit ${page.limit}::bigint offset ${page.offset}::bigint`.execute(db);
  return rows;
}

/** Trails read at a time: so many, and of so many bytes, the first one whatever it weighs. */
const slice = { rows: 100, bytes: 512 * 1024 };

/** Every trail that matches, newest first, some at a time. Those begun meanwhile are left out. */
export async function* listAllTrails(
  db: Database,
  orgId: string,
  filter: TrailFilter,
): AsyncGenerator<ReadTrailRow[]> {
  const weight = sql`octet_length(t.template) + octet_length(t.user_data::text) + octet_length(c.status::text)`;
  for (let after: ReadTrailRow | undefined; ;) {
    const from =
      after === undefined
        ? sql`true`
        : sql`(t.created_at, t.id) < (select created_at, id from trails where org_id = ${orgId} and id = ${after.id})`;
    const statement = sql<ReadTrailRow>`
      select * from (
        select ${columns}, sum(${weight}) over newest_first as bytes, row_number() over newest_first as place
        from ${judgedTrails} where t.org_id = ${orgId} and t.id in (
          select t.id from ${trailsAndFlows} where t.org_id = ${orgId} and ${conditions(filter)} and ${from}
          order by t.created_at desc, t.id desc limit ${slice.rows})
        window newest_first as (order by t.created_at desc, t.id desc)) t
      where place = 1 or bytes <= ${slice.bytes}
      order by place`;
    const { rows } = await db.sliced(() => statement.execute(db.query));
    if (rows.length === 0) return;
    yield rows;
    after = rows.at(-1);
  }
}

/** How many trails `listTrails` has in all. */
export async function countTrails(db: Executor, orgId: string, filter: TrailFilter): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${trailsAndFlows}
    where t.org_id = ${orgId} and ${conditions(filter)}`.execute(db);
  return rows[0]!.total;
}
