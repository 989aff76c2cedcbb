import type { Tx } from "../../../db/connect.ts";
import { wireId } from "../../../lib/ids.ts";
import { appendInstanceEntry, appendRecord, type Scope } from "../audit/service.ts";
import type { Deps } from "../deps.ts";

/**
 * Records sessions that ended, in the log of an organization and in that of the instance. Append it last.
 * @param action `sign_out` for who ended the session they came with, `session_revoked` for all others.
 */
export function recordEnds(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  { org, actor }: Scope,
  ended: { ids: readonly string[]; action: "sign_out" | "session_revoked" },
): void {
  const resources = ended.ids.map((id) => ({ resource_type: "session", resource: wireId(id) }));
  for (const resource of resources) appendRecord(deps, tx, { org, actor }, resource);
  for (const resource of resources)
    appendInstanceEntry(deps, tx, { actor, action: ended.action, ...resource });
}
