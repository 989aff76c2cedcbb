import { transaction } from "../../../db/transaction.ts";
import type { Deps } from "../deps.ts";
import { eraseAddresses, listLogLengths } from "./cursor-store.ts";

/** How long entries keep the address they came from, in seconds. */
const keptSeconds = 400 * 24 * 60 * 60;

/** Erases addresses of entries that are older than 400 days, of all logs. What was interrupted goes on the next time. */
export async function eraseOldAddresses(deps: Pick<Deps, "db" | "clock">): Promise<void> {
  const before = deps.clock.now() - keptSeconds;
  for (const { org_id, audit_seq, addresses_erased_to } of await listLogLengths(deps.db)) {
    let after: number | undefined = addresses_erased_to;
    while (after !== undefined && after < audit_seq) {
      const from: number = after;
      after = await transaction(deps.db, (tx) => eraseAddresses(tx, org_id, { after: from, before }));
    }
  }
}
