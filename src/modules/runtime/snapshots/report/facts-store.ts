import type { Executor } from "../../../../db/connect.ts";
import { integer, json, nullable, oneOf, type RowOf, text, uuid } from "../../../../db/row.ts";
import { rowById } from "../../../../db/row-by-id.ts";
import { query, sql } from "../../../../db/sql.ts";
import { complianceStates, type KeptVerdict } from "../../../../domain/compliance/model.ts";
import type { ReportedAttestation } from "../../../../domain/policy/evaluation/model.ts";
import type { WantedAttestations } from "../../../../domain/policy/evaluation/rules.ts";
import type { FlowFact, ReportedCommit } from "../../../../domain/snapshot/provenance.ts";
import { attestationsOf, factVersion, knownArtifacts } from "./facts-sql.ts";

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
