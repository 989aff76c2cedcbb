import type { Executor } from "../../db/connect.ts";
import { type Stay, staysByFingerprint } from "../../domain/snapshot/stays.ts";
import { listMoves } from "./stays-store.ts";

/**
 * Where artifacts run and ran, by fingerprint; oldest first. Logical environments are left out: what runs in them runs in
 * their members.
 */
export async function listStays(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
): Promise<ReadonlyMap<string, readonly Stay[]>> {
  return staysByFingerprint(await listMoves(db, orgId, fingerprints));
}
