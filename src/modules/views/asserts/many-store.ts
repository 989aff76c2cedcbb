import type { Executor } from "../../../db/connect.ts";
import { idList, idText } from "../../../db/id-list.ts";
import { integer, json, nullable, oneOf, type RowOf, text, uuid } from "../../../db/row.ts";
import { rowById } from "../../../db/row-by-id.ts";
import { constant, empty, param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { complianceStates, type KeptVerdict } from "../../../domain/compliance/model.ts";
import type { ReportedAttestation } from "../../../domain/policy/evaluation/model.ts";
import type { WantedAttestations } from "../../../domain/policy/evaluation/rules.ts";
import type { Tags } from "../../../domain/tags.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { attestationsOf } from "../../runtime/snapshots/report/facts-sql.ts";
import { type AssertSubject, few, knownInFlows, subjectOf } from "./store.ts";

/** Finds the last report of an artifact in each flow, as `idText` writes them, the flow that knew it first at first. */
export async function findKnownIds(db: Executor, orgId: string, asked: AssertSubject): Promise<string> {
  const row = await db.one(query("assert-ids", idList)`
    select ${idText("known.id", raw("known.first_id"))} as ids from ${knownInFlows(subjectOf(orgId, asked))}`);
  return row.ids;
}

/** What a flow knows of an artifact, as far as its state follows from it. */
const state = {
  artifact_id: uuid,
  fingerprint: text,
  flow_name: text,
  trail_name: text,
  trail_state: nullable(oneOf(complianceStates)),
  artifact_row: nullable(json<NonNullable<KeptVerdict["artifact_row"]>>()),
};
const stateColumns = sql`known.id as artifact_id, known.fingerprint, f.name as flow_name, t.name as trail_name,
      c.own_state as trail_state, c.artifact_states -> known.template_reference_name as artifact_row`;

/** Writes the flow, the trail and its verdict `c` of the artifact `known`. @param more of the verdict. */
function around(org: Sql, more: Sql = empty): Sql {
  return sql`${rowById("flows", "f", org, "known.flow_id")}
    ${rowById("trails", "t", org, "known.trail_id")}
    left join lateral (
      select own_state, artifact_states ${more} from trail_compliance
      where org_id = ${org} and trail_id = known.trail_id limit 1) c on true`;
}

/** Lists the states of artifacts by the ids of their reports, in this order. */
export function listKnownStates(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<RowOf<typeof state>[]> {
  const org = sql`${param(orgId)}::uuid`;
  return db.all(query("assert-states", state)`
    select ${stateColumns}
    from unnest((select ${ids}::uuid[])) with ordinality as asked (id, place)
    ${rowById("artifacts", "known", org, "asked.id")}
    ${around(org)}
    order by asked.place`);
}

const judged = {
  ...state,
  /** Of the first one. */
  filename: nullable(text),
  tags: json<Tags>(),
  attestations: json<ReportedAttestation[]>(),
};

/** Lists the same with what policies judge by. @param wanted which attestations. */
export function listJudgedFlows(
  db: Executor,
  orgId: string,
  ids: readonly string[],
  wanted: WantedAttestations,
): Promise<RowOf<typeof judged>[]> {
  const org = sql`${param(orgId)}::uuid`;
  const name = wanted.told_by.controls.length === 0 ? "assert-judged" : "assert-judged-controls";
  return db.all(query(name, judged)`
    select ${stateColumns}, case when asked.place = 1 then known.filename end as filename, f.tags,
      ${attestationsOf(orgId, wanted)} as attestations
    from unnest((select ${ids}::uuid[])) with ordinality as asked (id, place)
    ${rowById("artifacts", "known", org, "asked.id")}
    ${around(org)}
    order by asked.place`);
}

/** A flow as asserts show it, without the statuses of attestations. */
type ShownState = RowOf<typeof state> & { unexpected: boolean; evaluated_at: Timestamp | null };

const shown = {
  /** Counted from 1. */
  place: integer,
  flow: json<ShownState>(),
  /** JSON objects with commas between them, of the trail and then of the artifact. */
  statuses: text,
};
export type ShownFlowRow = RowOf<typeof shown>;

/** Writes a status of an attestation, `one`, as asserts show it. */
const statusObject = sql`concat('{"attestation_name":', one -> 'attestation_name',
            ',"attestation_type":', coalesce(one -> 'attestation_type', 'null'), ',"status":', one -> 'status',
            ',"is_compliant":', coalesce(one -> 'is_compliant', 'null'), ',"unexpected":', one -> 'unexpected', '}')`;

/**
 * Lists flows as asserts show them, by the ids of their reports from one on: one after the other until there is enough for once, so that
 * none is looked at that does not come along.
 * @param after how many of them have been read. Of what is gone there is nothing.
 */
export function listShownFlows(
  db: Executor,
  orgId: string,
  ids: readonly string[],
  after: number,
): Promise<ShownFlowRow[]> {
  const org = sql`${param(orgId)}::uuid`;
  const asked = sql`${param(ids)}::uuid[]`;
  return db.all(query("assert-shown", shown)`
    with recursive found as (
      select ${after}::integer as place, null::json as flow, '' as statuses, 0 as bytes
      union all
      select found.place + 1, one.flow, one.statuses,
        found.bytes + coalesce(octet_length(one.statuses) + octet_length(one.flow::text), 0)
      from found
      left join lateral (
        select json_build_object('artifact_id', known.id, 'fingerprint', known.fingerprint, 'flow_name', f.name,
          'trail_name', t.name, 'trail_state', c.own_state, 'artifact_row', c.artifact_states -> known.template_reference_name,
          'unexpected', coalesce((c.said ->> 'unexpected')::boolean, false),
          'evaluated_at', coalesce(c.said -> 'evaluated_at', c.status -> 'evaluated_at')) as flow, (
            select coalesce(string_agg(${statusObject}, ',' order by part, at), '')
            from (
              select 1 as part, at, one from json_array_elements(c.status -> 'attestations_statuses')
                with ordinality as said (one, at)
              union all
              select 2, at, one from json_array_elements(
                case when c.said ->> 'artifact_fingerprint' = known.fingerprint then c.said -> 'attestations_statuses' end)
                with ordinality as said (one, at)) statuses) as statuses
        from (select * from artifacts where org_id = ${org} and id = (${asked})[found.place + 1] limit 1) known
        ${around(org, sql`, status, status -> 'artifacts_statuses' -> known.template_reference_name as said`)}) one on true
      where found.place < cardinality(${asked}) and found.bytes < ${constant(few.bytes)}
    )
    select place, flow, statuses
    from found where flow is not null order by place`);
}
