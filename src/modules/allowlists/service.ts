import type { Tx } from "../../db/connect.ts";

/** Fingerprints trusted in each environment. */
export function allowListed(
  _tx: Tx,
  _orgId: string,
  _environmentIds: readonly string[],
): Promise<Map<string, ReadonlySet<string>>> {
  return Promise.resolve(new Map());
}
