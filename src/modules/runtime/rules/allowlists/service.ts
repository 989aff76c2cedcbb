import type { Tx } from "../../../../db/connect.ts";
import { listAllowed, listWithEntries, type PlacedFingerprint } from "./store.ts";

/** Fingerprints that are looked for in one statement. */
const inOneStatement = 5_000;

/** Divides fingerprints into lists that are looked for in one statement, each fingerprint once for its environment. */
function* dividedForStatements(
  wanted: ReadonlyMap<string, Iterable<string>>,
): Generator<PlacedFingerprint[]> {
  let placed: PlacedFingerprint[] = [];
  for (const [environment_id, fingerprints] of wanted) {
    const known = new Set<string>([""]);
    for (const fingerprint of fingerprints) {
      if (known.has(fingerprint)) continue;
      known.add(fingerprint);
      placed.push({ environment_id, fingerprint });
      if (placed.length < inOneStatement) continue;
      yield placed;
      placed = [];
    }
  }
  if (placed.length > 0) yield placed;
}

/**
 * Finds which fingerprints are trusted in each environment; an empty set for those where none is. Lists are of any length:
 * what is not wanted is not read.
 * @param wanted the fingerprints to look for, by environment.
 */
export async function allowListed(
  tx: Tx,
  orgId: string,
  wanted: ReadonlyMap<string, Iterable<string>>,
): Promise<Map<string, ReadonlySet<string>>> {
  const allowed = new Map([...wanted.keys()].map((id) => [id, new Set<string>()]));
  // Most have none.
  const withEntries = new Set(await listWithEntries(tx, orgId, [...wanted.keys()]));
  const listed = new Map([...wanted].filter(([id]) => withEntries.has(id)));
  for (const placed of dividedForStatements(listed))
    for (const { environment_id, fingerprint } of await listAllowed(tx, orgId, placed))
      allowed.get(environment_id)?.add(fingerprint);
  return allowed;
}
