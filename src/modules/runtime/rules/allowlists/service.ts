import type { Tx } from "../../../../db/connect.ts";
import { listFingerprints } from "./store.ts";

/** Finds the fingerprints trusted in each environment; an empty set for those without any. */
export async function allowListed(
  tx: Tx,
  orgId: string,
  environmentIds: readonly string[],
): Promise<Map<string, ReadonlySet<string>>> {
  const allowed = new Map<string, ReadonlySet<string>>(environmentIds.map((id) => [id, new Set()]));
  for (const { environment_id, fingerprints } of await listFingerprints(tx, orgId, environmentIds))
    allowed.set(environment_id, new Set(fingerprints));
  return allowed;
}
