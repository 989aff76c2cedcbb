import { AppError } from "../domain/errors.ts";
import type { Executor, Tx } from "./connect.ts";
import { sqlState, sqlStateOf } from "./sqlstate.ts";

const attempts = 4;

function isTransient(error: unknown): boolean {
  const code = sqlStateOf(error);
  return (
    code === sqlState.serializationFailure ||
    code === sqlState.deadlockDetected ||
    code === sqlState.lockNotAvailable
  );
}

/**
 * Runs `work` in one transaction. Transactions that collide are tried again; one that keeps colliding is a conflict,
 * which clients know to retry. `work` may therefore run several times and must do nothing outside the transaction.
 */
export async function transaction<T>(db: Executor, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (attempt === attempts)
        throw new AppError("conflict", "Another request changed the same records, try again", {
          cause: error,
        });
    }
  }
}
