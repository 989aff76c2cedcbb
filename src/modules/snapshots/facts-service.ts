import type { Executor } from "../../db/connect.ts";
import { artifactState } from "../../domain/compliance/evaluate.ts";
import type { ComplianceState } from "../../domain/compliance/model.ts";
import type { KnownFlow } from "../../domain/policy/evaluation/model.ts";
import { type FlowFact, knownFlow } from "../../domain/snapshot/provenance.ts";
import { judgeArtifacts } from "../compliance/service.ts";
import { type FlowFactRow, listFacts } from "./facts-store.ts";

/** The state that the verdict of its trail gives an artifact; undefined when that is about another artifact. */
function keptState({ fingerprint, trail_state, artifact_row }: FlowFactRow): ComplianceState | undefined {
  if (trail_state === null || artifact_row?.artifact_fingerprint !== fingerprint) return undefined;
  return artifact_row.status === "MISSING" ? undefined : artifactState(trail_state, artifact_row.status);
}

/**
 * What flows know of these fingerprints now, by fingerprint; the flow that knew it first comes first. One statement, and
 * another one when some of them lost their template names on their trails.
 * @param withAttestations whether attestations are wanted; policies alone ask for them.
 */
export async function getFacts(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
  withAttestations: boolean,
): Promise<Map<string, FlowFact[]>> {
  const rows = await listFacts(db, orgId, fingerprints, withAttestations);
  const replaced = rows.filter((row) => keptState(row) === undefined);
  const ids = replaced.map(({ artifact_id }) => artifact_id);
  const states = await judgeArtifacts(db, orgId, ids);
  const judged = new Map(replaced.map((row, index) => [row, states[index]!]));
  const facts = new Map<string, FlowFact[]>();
  for (const row of rows) {
    const { trail_state: _trail, artifact_row: _artifact, ...known } = row;
    const fact = { ...known, compliance_state: keptState(row) ?? judged.get(row)! };
    const others = facts.get(row.fingerprint);
    if (others === undefined) facts.set(row.fingerprint, [fact]);
    else others.push(fact);
  }
  return facts;
}

/** What flows know of these fingerprints now, as policies take it. One that no flow knows is missing. */
export async function getKnownFlows(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
): Promise<Map<string, KnownFlow[]>> {
  const facts = await getFacts(db, orgId, fingerprints, true);
  return new Map([...facts].map(([fingerprint, known]) => [fingerprint, known.map(knownFlow)]));
}
