import { isTransient, pastCollisions } from "./collisions.ts";
import type { Borrowed, ConnectionSource, Tx } from "./connect.ts";
import { createExecutor } from "./executor.ts";
import { sqlState, sqlStateOf } from "./sqlstate.ts";

/** How to run a transaction. */
export interface TransactionOptions {
  /**
   * Does not wait for the answer to BEGIN before it sends the first statements, up to the first whose answer is waited
   * for. They must be such that leave nothing behind, were they to run without a transaction: reads, locks.
   */
  beginsWithReads?: boolean;
  /** Called when all was sent, and only answers are to come; again when it has to be tried again. */
  onSent?: () => void;
}

/**
 * Runs `work` in one transaction. Transactions that collide are tried again; one that keeps colliding is a conflict,
 * which clients know to retry. `work` may therefore run several times and must do nothing outside the transaction.
 *
 * Statements are sent at once, also while others of the transaction are under way: PostgreSQL runs them in the order in
 * which they were sent. Those begun together with `Promise.all` share a round trip.
 */
export function transaction<T>(
  db: ConnectionSource,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  return pastCollisions(() => attemptOnce(db, work, options), isTransient);
}

/** Takes a rejection for handled: somebody looks at the promise in time. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** Finds the failure of the first that failed, in their order; undefined when none did. */
async function firstFailure(promises: readonly Promise<unknown>[]): Promise<unknown> {
  const failed = (await Promise.allSettled(promises)).find(({ status }) => status === "rejected");
  return failed?.status === "rejected" ? failed.reason : undefined;
}

async function attemptOnce<T>(
  db: ConnectionSource,
  work: (tx: Tx) => Promise<T>,
  { beginsWithReads = false, onSent }: TransactionOptions,
): Promise<T> {
  const connection = await db.borrow();
  try {
    const session = openSession(connection, db.begin);
    const sent: Promise<unknown>[] = [];
    const tx = transactionOn(session, sent, db.checkRows, connection.traceparent);
    const begun = session.begin();
    if (beginsWithReads) sent.push(handled(begun));
    else await begun;
    try {
      const result = await work(tx);
      const ended = session.end("commit");
      onSent?.();
      await Promise.all([...sent, ended]);
      return result;
    } catch (error) {
      await session.end("rollback").catch(() => {});
      const failure = (await firstFailure(sent)) ?? error;
      // What came after a statement failed only because that had, and may have been waited for sooner.
      throw sqlStateOf(failure) === sqlState.inFailedTransaction ? (session.failure() ?? failure) : failure;
    }
  } finally {
    connection.release();
  }
}

type Send = Borrowed["send"];

interface Session {
  /** Sends a statement without waiting for those before. */
  send: Send;
  begin(): Promise<unknown>;
  /** Gives what the first statement failed with that did; undefined while none has. */
  failure(): unknown;
  /** Ends the transaction, after all that was sent before; nothing can be sent any more. Only the first call counts. */
  end(command: "commit" | "rollback"): Promise<unknown>;
}

const plain = (text: string): Parameters<Send>[0] => ({ name: undefined, text, values: [] });

/** Begins to use a connection for a transaction, on which statements do not wait for those sent before. */
function openSession(connection: Borrowed, begin: string): Session {
  let refusal: Error | undefined;
  let ended: Promise<unknown> | undefined;
  let failure: unknown;
  return {
    send: (statement) => {
      if (refusal !== undefined) return Promise.reject(refusal);
      const answer = connection.send(statement);
      answer.catch((error: unknown) => (failure ??= error));
      return answer;
    },
    failure: () => failure,
    begin: async () => {
      try {
        await connection.send(plain(begin));
      } catch (error) {
        // Whatever came next would be kept without the rest.
        refusal = error instanceof Error ? error : new Error(String(error));
        throw error;
      }
    },
    end: (command) => {
      refusal ??= new Error("The transaction has ended");
      ended ??= connection.send(plain(command));
      return ended;
    },
  };
}

function transactionOn(
  session: Session,
  sent: Promise<unknown>[],
  checkRows: boolean,
  traceparent: string | undefined,
): Tx {
  const executor = createExecutor({ send: (statement) => session.send(statement), checkRows });
  return { ...executor, traceparent, send: (command) => void sent.push(handled(executor.run(command))) };
}
