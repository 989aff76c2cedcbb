import type { Executor } from "../../db/connect.ts";
import type { KnownFlow } from "../../domain/policy/evaluation/model.ts";
import { knownFlow } from "../../domain/snapshot/provenance.ts";
import { listFacts } from "./facts-store.ts";

/** What flows know of these fingerprints now, as policies take it. One that no flow knows is missing. */
export async function getKnownFlows(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
): Promise<Map<string, KnownFlow[]>> {
  const facts = await listFacts(db, orgId, fingerprints, true);
  return new Map([...facts].map(([fingerprint, known]) => [fingerprint, known.map(knownFlow)]));
}
