import type { Tx } from "../../../db/connect.ts";
import { lockName } from "../../../db/lock.ts";
import { transaction } from "../../../db/transaction.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { Deps } from "../deps.ts";
import { eraseAddresses, findLastBefore, isBeingCopied, listLogLengths } from "./cursor-store.ts";

/** How long entries keep the address they came from, in seconds. */
const keptSeconds = 400 * 24 * 60 * 60;

/** Makes what erases addresses wait until the transaction ends: a copy of the log that begins in it is seen then. */
export async function lockErasing(tx: Tx): Promise<void> {
  await lockName(tx, "addresses of audit logs");
}

/**
 * Erases the next addresses of a log. Not while its rows are copied: those that were already would bring them back.
 * @returns the number of the last entry that has none any more; undefined when there are no more that old, "copied" while nothing may be erased.
 */
async function eraseNext(
  tx: Tx,
  orgId: string,
  range: { after: number; before: Timestamp },
): Promise<number | "copied" | undefined> {
  await lockErasing(tx);
  const last = await findLastBefore(tx, orgId, range);
  if (last === undefined) return undefined;
  if (await isBeingCopied(tx)) return "copied";
  await eraseAddresses(tx, orgId, { after: range.after, last });
  return last;
}

/** Erases addresses of entries that are older than 400 days, of all logs. What was interrupted, or had to wait, goes on the next time. */
export async function eraseOldAddresses(deps: Pick<Deps, "db" | "clock" | "log">): Promise<void> {
  const before = deps.clock.now() - keptSeconds;
  for (const { org_id, audit_seq, addresses_erased_to } of await listLogLengths(deps.db)) {
    let after: number | undefined = addresses_erased_to;
    while (after !== undefined && after < audit_seq) {
      const from: number = after;
      const erased = await transaction(deps.db, (tx) => eraseNext(tx, org_id, { after: from, before }));
      if (erased === "copied") {
        deps.log.warn(
          "addresses older than 400 days are kept while audit_log is being partitioned: finish with `waybill admin partition audit_log`, or give up with --abandon",
        );
        return;
      }
      after = erased;
    }
  }
}
