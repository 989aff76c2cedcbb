import { setTimeout as sleep } from "node:timers/promises";

import type { Tx } from "../../../db/connect.ts";
import { sqlState, sqlStateOf } from "../../../db/sqlstate.ts";
import { transaction } from "../../../db/transaction.ts";
import type { Deps } from "../../kernel/deps.ts";
import { liftTimeLimit } from "./copy-store.ts";
import { limitWaiting } from "./shape-store.ts";

/** How often a lock is tried that others must not wait for. */
const attempts = 30;

/** Runs a transaction whose locks give up soon, again and again while the table is busy. */
export async function whenFree(deps: Pick<Deps, "db">, work: (tx: Tx) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await transaction(deps.db, async (tx) => {
        await limitWaiting(tx);
        await work(tx);
      });
    } catch (error) {
      const isBusy =
        sqlStateOf(error instanceof Error ? (error.cause ?? error) : error) === sqlState.lockNotAvailable;
      if (!isBusy || attempt === attempts) throw error;
      await sleep(1000);
    }
}

/** Runs statements that read or change whole tables, for as long as that takes. */
export function unhurried<T>(deps: Pick<Deps, "db">, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(deps.db, async (tx) => {
    await liftTimeLimit(tx);
    return work(tx);
  });
}
