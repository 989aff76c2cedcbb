import { type RawBuilder, sql } from "kysely";

import { instant } from "../../db/columns.ts";
import type { Executor } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";
import type { ListPage } from "./list-store.ts";

/** A decision as it is listed, but for its URL. */
export interface DecisionRow {
  decision_id: string;
  control: string;
  control_version: number | null;
  is_compliant: boolean;
  attestation_name: string;
  flow_id: string;
  flow_name: string;
  trail_name: string;
  artifact_fingerprint: string | null;
  artifact_name: string | null;
  created_at: Timestamp;
  reported_by: string;
}

export interface DecisionDetailRow extends DecisionRow {
  description: string | null;
  origin_url: string | null;
  external_urls: Record<string, { href: string; fingerprint?: string | null | undefined }> | null;
  annotations: string | null;
  /** JSON text as it was written; so are annotations. */
  user_data: string;
}

/** Which decisions. Bounds are inclusive, Unix seconds. */
export interface DecisionFilter {
  is_compliant?: boolean | undefined;
  from_timestamp?: number | undefined;
  to_timestamp?: number | undefined;
  /** Ids of flows, any of them. */
  flow_ids?: string[] | undefined;
}

const shown = sql`wire_id(d.id) as decision_id, d.control_identifier as control, d.control_version, d.is_compliant,
  d.name as attestation_name, wire_id(d.flow_id) as flow_id, f.name as flow_name, t.name as trail_name,
  d.artifact_fingerprint, d.created_at, d.created_by_name as reported_by, (
    select r.filename from artifacts r
    where r.org_id = d.org_id and r.trail_id = d.trail_id and r.fingerprint = d.artifact_fingerprint
    order by r.id desc limit 1
  ) as artifact_name`;

const places = sql`join flows f on f.org_id = d.org_id and f.id = d.flow_id
  join trails t on t.org_id = d.org_id and t.id = d.trail_id`;

function matching(orgId: string, identifier: string, filter: DecisionFilter): RawBuilder<unknown> {
  const { is_compliant, from_timestamp, to_timestamp, flow_ids } = filter;
  const all = [sql`d.org_id = ${orgId}`, sql`d.control_identifier = ${identifier}`];
  if (is_compliant !== undefined) all.push(sql`d.is_compliant = ${is_compliant}`);
  if (from_timestamp !== undefined) all.push(sql`d.created_at >= ${instant(from_timestamp)}`);
  if (to_timestamp !== undefined) all.push(sql`d.created_at <= ${instant(to_timestamp)}`);
  if (flow_ids !== undefined) all.push(sql`d.flow_id = any(${flow_ids}::uuid[])`);
  return sql.join(all, sql` and `);
}

/** Some of the decisions on a control that match, by time. */
export async function listDecisions(
  db: Executor,
  orgId: string,
  filter: DecisionFilter & { identifier: string },
  page: ListPage,
): Promise<DecisionRow[]> {
  const direction = sql.raw(page.sort_direction);
  const { rows } = await sql<DecisionRow>`
    select ${shown} from (
      select * from attestations d where ${matching(orgId, filter.identifier, filter)}
      order by d.created_at ${direction}, d.id ${direction}
      limit ${page.limit}::bigint offset ${page.offset}::bigint
    ) as d ${places}
    order by d.created_at ${direction}, d.id ${direction}`.execute(db);
  return rows;
}

/** How many decisions on a control match. */
export async function countDecisions(
  db: Executor,
  orgId: string,
  filter: DecisionFilter & { identifier: string },
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from attestations d where ${matching(orgId, filter.identifier, filter)}`.execute(
    db,
  );
  return rows[0]!.total;
}

/** One decision on a control. */
export async function findDecision(
  db: Executor,
  orgId: string,
  identifier: string,
  id: string,
): Promise<DecisionDetailRow | undefined> {
  const { rows } = await sql<DecisionDetailRow>`
    select ${shown}, d.description, d.origin_url, d.external_urls, d.annotations::text as annotations,
      coalesce(d.user_data, '{}')::text as user_data
    from attestations d ${places}
    where d.org_id = ${orgId} and d.id = ${id} and d.control_identifier = ${identifier}`.execute(db);
  return rows[0];
}
