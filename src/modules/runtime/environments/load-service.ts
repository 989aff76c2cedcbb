import type { Tx } from "../../../db/connect.ts";
import type { Deps } from "../../kernel/deps.ts";
import { insertLoadedEnvironments, insertLoadedMembers, type LoadedRow } from "./load-store.ts";

/** An environment as it is somewhere else, times included. */
export type LoadedEnvironment = Omit<LoadedRow, "id">;

/**
 * Writes many live environments at once, for loading records made elsewhere: a few statements, whatever their number; a
 * few thousand at a time are fine. Members may be in the same load or earlier ones; names that lead to no live
 * physical environment are left out. Not idempotent: a name that is taken fails the transaction.
 */
export async function loadEnvironments(
  deps: Pick<Deps, "ids">,
  tx: Tx,
  orgId: string,
  environments: readonly LoadedEnvironment[],
): Promise<void> {
  const rows = environments.map((environment) => ({ ...environment, id: deps.ids.next() }));
  const logical = rows.filter(({ type }) => type === "logical");
  await insertLoadedEnvironments(tx, orgId, rows);
  if (logical.length > 0) await insertLoadedMembers(tx, orgId, logical);
}
