import type { Executor } from "../../../../db/connect.ts";
import type { KnownFlow } from "../../../../domain/policy/evaluation/model.ts";
import type { WantedAttestations } from "../../../../domain/policy/evaluation/rules.ts";
import { type FlowFact, knownFlow } from "../../../../domain/snapshot/provenance.ts";
import { groupBy } from "../../../../lib/group.ts";
import { withStates } from "../../../process/compliance/service.ts";
import { countFlows, type FlowFactRow, listFacts } from "./facts-store.ts";

/**
 * Reads what flows know of these fingerprints now, by fingerprint; the flow that knew it first comes first. One statement, and
 * another one when some of them lost their template names on their trails.
 * @param wanted which attestations; policies alone ask for them.
 */
export async function getFacts(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
  wanted: WantedAttestations | "none",
): Promise<Map<string, FlowFact[]>> {
  return byFingerprint(db, orgId, await listFacts(db, orgId, fingerprints, wanted));
}

async function byFingerprint(
  db: Executor,
  orgId: string,
  rows: readonly FlowFactRow[],
): Promise<Map<string, FlowFact[]>> {
  const judged = await withStates(db, orgId, rows);
  const facts = judged.map(({ trail_state: _trail, artifact_row: _artifact, ...fact }) => fact);
  return groupBy(facts, ({ fingerprint }) => fingerprint);
}

/** Reads the same, unless flows know more than the limit: then undefined. */
export async function getFactsUpTo(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
  { wanted, limit }: { wanted: WantedAttestations | "none"; limit: number },
): Promise<Map<string, FlowFact[]> | undefined> {
  if (fingerprints.length === 0) return new Map();
  const rows = await listFacts(db, orgId, fingerprints, wanted, limit + 1);
  return rows.length > limit ? undefined : byFingerprint(db, orgId, rows);
}

/** Counts the flows that know each of these fingerprints; those that none knows are missing. One statement. */
export function countKnownFlows(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
): Promise<Map<string, number>> {
  return countFlows(db, orgId, fingerprints);
}

/** Reads what flows know of these fingerprints now, as policies take it. One that no flow knows is missing. */
export async function getKnownFlows(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
  wanted: WantedAttestations,
): Promise<Map<string, KnownFlow[]>> {
  const facts = await getFacts(db, orgId, fingerprints, wanted);
  return new Map([...facts].map(([fingerprint, known]) => [fingerprint, known.map(knownFlow)]));
}
