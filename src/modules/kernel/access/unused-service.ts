import type { Tx } from "../../../db/connect.ts";
import type { Actor } from "../../../domain/principal.ts";
import { wireId } from "../../../lib/ids.ts";
import { appendInstanceEntry, appendRecord } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import { type UnusedKeyRow, updateUnusedRevoked, updateUnusedWarned } from "./unused-store.ts";

/** Notes that owners are warned of keys that nobody uses. @returns those keys, `limit` at most. */
export function warnOfUnused(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  { limit }: { limit: number },
): Promise<UnusedKeyRow[]> {
  return updateUnusedWarned(tx, deps.clock.now(), limit);
}

/** Records that a key ended by a rule: in its organization's log, or for a person's in that of the instance. */
export function recordExpired(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  actor: Actor,
  { id, org_id, account }: Pick<UnusedKeyRow, "id" | "org_id" | "account">,
): void {
  if (org_id === null)
    appendInstanceEntry(deps, tx, {
      actor,
      action: "key_expired",
      resource_type: "api_key",
      resource: wireId(id),
    });
  else
    appendRecord(
      deps,
      tx,
      { org: { id: org_id }, actor },
      { resource_type: "key_expired", resource: `${account ?? ""}/${wireId(id)}` },
    );
}

/** Ends keys that were not used since their owners were warned. @returns those keys, `limit` at most. */
export function endUnused(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  { limit }: { limit: number },
): Promise<UnusedKeyRow[]> {
  return updateUnusedRevoked(tx, deps.clock.now(), limit);
}
