import type { Executor } from "../../../db/connect.ts";
import { countRows } from "../../../db/count-rows.ts";
import { boolean, integer, json, nullable, type RowOf, text, timestamp } from "../../../db/row.ts";
import { join, moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import type { ListPage } from "./store.ts";

const decision = {
  decision_id: text,
  control: text,
  control_version: nullable(integer),
  is_compliant: boolean,
  attestation_name: text,
  flow_id: text,
  flow_name: text,
  trail_name: text,
  artifact_fingerprint: nullable(text),
  created_at: timestamp,
  reported_by: text,
  artifact_name: nullable(text),
};

/** A decision as it is listed, but for its URL. */
export type DecisionRow = RowOf<typeof decision>;

type ExternalUrls = Record<string, { href: string; fingerprint?: string | null | undefined }>;

const decisionInFull = {
  ...decision,
  description: nullable(text),
  origin_url: nullable(text),
  external_urls: nullable(json<ExternalUrls>()),
  /** JSON text as it was written. */
  annotations: nullable(text),
  /** JSON text as it was written. */
  user_data: text,
};

/** A decision as it is shown by itself, but for its URL. */
export type DecisionDetailRow = RowOf<typeof decisionInFull>;

/** Which decisions. Bounds are inclusive, Unix seconds. */
export interface DecisionFilter {
  is_compliant?: boolean | undefined;
  from_timestamp?: number | undefined;
  to_timestamp?: number | undefined;
  /** Ids of flows, any of them. */
  flow_ids?: string[] | undefined;
}

function shownOf(orgId: string): Sql {
  return sql`wire_id(d.id) as decision_id, d.control_identifier as control, d.control_version, d.is_compliant,
  d.name as attestation_name, wire_id(d.flow_id) as flow_id, f.name as flow_name, t.name as trail_name,
  d.artifact_fingerprint, d.created_at, d.created_by_name as reported_by, (
    select r.filename from artifacts r
    where r.org_id = ${orgId} and r.trail_id = d.trail_id and r.fingerprint = d.artifact_fingerprint
    order by r.id desc limit 1
  ) as artifact_name`;
}

function placesOf(orgId: string): Sql {
  return sql`join flows f on f.org_id = ${orgId} and f.id = d.flow_id
  join trails t on t.org_id = ${orgId} and t.id = d.trail_id`;
}

function matching(orgId: string, identifier: string, filter: DecisionFilter): Sql {
  const { is_compliant, from_timestamp, to_timestamp, flow_ids } = filter;
  const all = [sql`d.org_id = ${orgId}`, sql`d.control_identifier = ${identifier}`];
  if (is_compliant !== undefined) all.push(sql`d.is_compliant = ${is_compliant}`);
  if (from_timestamp !== undefined) all.push(sql`d.created_at >= ${moment(from_timestamp)}`);
  if (to_timestamp !== undefined) all.push(sql`d.created_at <= ${moment(to_timestamp)}`);
  if (flow_ids !== undefined) all.push(sql`d.flow_id = any(${flow_ids}::uuid[])`);
  return join(all, " and ");
}

/** Lists some of the decisions on a control that match, by time. */
export function listDecisions(
  db: Executor,
  orgId: string,
  filter: DecisionFilter & { identifier: string },
  page: ListPage,
): Promise<DecisionRow[]> {
  const direction = raw(page.sort_direction);
  return db.all(query(decision)`
    select ${shownOf(orgId)} from (
      select * from attestations d where ${matching(orgId, filter.identifier, filter)}
      order by d.created_at ${direction}, d.id ${direction}
      limit ${page.limit}::bigint offset ${page.offset}::bigint
    ) as d ${placesOf(orgId)}
    order by d.created_at ${direction}, d.id ${direction}`);
}

/** Counts the decisions on a control that match. */
export function countDecisions(
  db: Executor,
  orgId: string,
  filter: DecisionFilter & { identifier: string },
): Promise<number> {
  return countRows(db, sql`attestations d where ${matching(orgId, filter.identifier, filter)}`);
}

/** Finds one decision on a control. */
export function findDecision(
  db: Executor,
  orgId: string,
  identifier: string,
  id: string,
): Promise<DecisionDetailRow | undefined> {
  return db.first(query(decisionInFull)`
    select ${shownOf(orgId)}, d.description, d.origin_url, d.external_urls, d.annotations::text as annotations,
      coalesce(d.user_data, '{}')::text as user_data
    from attestations d ${placesOf(orgId)}
    where d.org_id = ${orgId} and d.id = ${id} and d.control_identifier = ${identifier}`);
}
