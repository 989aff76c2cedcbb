import type { Executor } from "../../../../db/connect.ts";
import { integer, json, nullable, oneOf, type RowOf, text, uuid } from "../../../../db/row.ts";
import { rowById } from "../../../../db/row-by-id.ts";
import { query, type Sql, sql } from "../../../../db/sql.ts";
import { complianceStates, type KeptVerdict } from "../../../../domain/compliance/model.ts";
import type { ReportedAttestation } from "../../../../domain/policy/evaluation/model.ts";
import type { WantedAttestations } from "../../../../domain/policy/evaluation/rules.ts";
import type { FlowFact, ReportedCommit } from "../../../../domain/snapshot/provenance.ts";
import { withControls } from "../../../process/compliance/control-sql.ts";
import { countsForArtifact } from "../../../process/compliance/places-sql.ts";
import { factVersion, knownArtifacts } from "./facts-sql.ts";

/** Everything a flow knows of a fingerprint, with the verdicts of the trail it was reported on, where there are any. */
const flowFact = {
  fingerprint: text,
  artifact_id: uuid,
  flow_id: uuid,
  flow_name: text,
  trail_id: uuid,
  trail_name: text,
  tags: json<FlowFact["tags"]>(),
  template_reference_name: text,
  git_commit: nullable(text),
  commit_url: text,
  build_url: text,
  git_commit_info: nullable(json<ReportedCommit>()),
  repo_id: nullable(uuid),
  trail_state: nullable(oneOf(complianceStates)),
  artifact_row: nullable(json<NonNullable<KeptVerdict["artifact_row"]>>()),
  version: text,
  attestations: json<ReportedAttestation[]>(),
};
export type FlowFactRow = RowOf<typeof flowFact>;

/** Writes SQL for a text where it is one of these, else null. */
function among(column: Sql, texts: readonly string[]): Sql {
  return sql`case when ${column} = any(${texts}::text[]) then ${column} end`;
}

/**
 * Writes SQL for the attestations that count for an artifact on its trail, in the order of their reports: of those that no
 * rule tells apart the last one. A trail may have very many, and each artifact on it has those of the trail.
 */
function attestationsOf(
  orgId: string,
  { names, types, told_by: { types: allTypes, controls } }: WantedAttestations,
): Sql {
  const named = sql`(select * from attestations where org_id = ${orgId}::uuid and trail_id = known.trail_id
      and (name = any(${names}::text[]) or type = any(${types}::text[])) offset 0)`;
  // Where no rule asks for a control nobody has to find out whose decisions were overridden.
  const counting =
    controls.length === 0
      ? sql`(
      select a.*, null::text as control from ${named} a where ${countsForArtifact("a", "known")})`
      : withControls(named, "known");
  return sql`(
    select coalesce(json_agg(json_build_object('name', last.name, 'type', last.type, 'is_compliant', last.is_compliant,
      'control', last.control) order by last.id), '[]')
    from (
    select distinct on (1, 2, 3) ${among(sql`a.name`, names)} as told_name, ${among(sql`a.type`, allTypes)} as told_type,
      ${among(sql`a.control`, controls)} as told_control, a.id, a.name, a.type, a.is_compliant, a.control
    from ${counting} a
    order by 1, 2, 3, a.id desc) last)`;
}

/**
 * Lists what every flow that knows one of these fingerprints knows of it, by its latest report there: one statement. In
 * order of fingerprints; the flow that knew it first comes first.
 * @param wanted which attestations; policies alone ask for them.
 * @param limit the most rows that are answered; null for all.
 */
export function listFacts(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
  wanted: WantedAttestations | "none",
  limit: number | null = null,
): Promise<FlowFactRow[]> {
  // Three statements, so three names.
  const name =
    wanted === "none"
      ? "runtime-facts"
      : wanted.told_by.controls.length === 0
        ? "runtime-facts-wanted"
        : "runtime-facts-controls";
  const attestations = wanted === "none" ? sql`'[]'::json` : attestationsOf(orgId, wanted);
  return db.all(query(name, flowFact)`
    select known.fingerprint, known.id as artifact_id, known.flow_id, f.name as flow_name, known.trail_id,
      t.name as trail_name, f.tags, known.template_reference_name, known.git_commit, known.commit_url, known.build_url,
      known.git_commit_info, known.repo_id, c.own_state as trail_state,
      c.artifact_states -> known.template_reference_name as artifact_row,
      ${factVersion(sql`known.id`)} as version, ${attestations} as attestations
    from ${knownArtifacts(orgId, fingerprints)}
    ${rowById("trails", "t", sql`${orgId}::uuid`, "known.trail_id")}
    order by known.fingerprint, known.first_id limit ${limit}::bigint`);
}

/** Counts the flows that know each of these fingerprints; those that none knows are missing. One statement. */
export async function countFlows(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.all(query("runtime-facts-counted", { fingerprint: text, flows: integer })`
    select asked.fingerprint, known.flows from unnest((select ${fingerprints}::text[])) as asked (fingerprint)
    cross join lateral (
      select count(distinct flow_id)::integer as flows from artifacts
      where org_id = ${orgId}::uuid and fingerprint = asked.fingerprint) known
    where known.flows > 0`);
  return new Map(rows.map(({ fingerprint, flows }) => [fingerprint, flows]));
}
