import { transaction } from "../../../db/transaction.ts";
import type { Actor, Principal } from "../../../domain/principal.ts";
import { wireId } from "../../../lib/ids.ts";
import { networkOf } from "../../../lib/network.ts";
import { appendRecord, recordInstanceEntry } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import { findHome } from "./home-store.ts";
import type { RefusedCaller } from "./service.ts";

type RefusalDeps = Pick<Deps, "db" | "clock" | "log" | "refusals">;

function isToBeTold({ refusals, clock }: RefusalDeps, name: string, address: string): boolean {
  const now = clock.now();
  return (
    refusals.address.begin(`${name} ${networkOf(address)}`, now).admitted &&
    refusals.key.begin(name, now).admitted
  );
}

/** Finds the organization that is told where the installation is not: the one that refuses, else the key's owner's own. */
async function toldOrganization(
  { db }: RefusalDeps,
  { by, org, principal }: RefusedCaller,
): Promise<string | undefined> {
  if (principal.org_id !== null) return principal.org_id;
  return by === "organization" && org !== undefined ? org.id : findHome(db, principal.id);
}

/** Names what was refused: the key, or a session that has none. */
function refusedThing({ api_key_id, session_id, name }: Principal): string {
  if (api_key_id !== null) return wireId(api_key_id);
  return session_id === null ? name : wireId(session_id);
}

/**
 * Tells in the audit log that a key or session that works was used from an address that it does not work from. It is refused in any case: what
 * goes wrong here is logged.
 * @param request who asks, as records name it: nobody known, because whoever has a secret need not be its owner.
 */
export async function recordWrongAddress(
  deps: RefusalDeps,
  refused: RefusedCaller,
  { address, actor }: { address: string; actor: Actor },
): Promise<void> {
  const thing = refusedThing(refused.principal);
  if (!isToBeTold(deps, thing, address)) return;
  deps.log.warn(
    { key: thing, address, by: refused.by },
    "refused a key from an address it does not work from",
  );
  try {
    if (refused.by === "installation") {
      const entry = { resource_type: "api_key", resource: thing };
      return await recordInstanceEntry(deps, { actor, action: "address_refused", ...entry });
    }
    const id = await toldOrganization(deps, refused);
    if (id === undefined) return;
    await transaction(deps.db, async (tx) =>
      appendRecord(deps, tx, { org: { id }, actor }, { resource_type: "address_refused", resource: thing }),
    );
  } catch (err) {
    deps.log.warn({ err }, "could not record that a key was refused");
  }
}
