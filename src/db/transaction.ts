import {
  CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  type Dialect,
  DummyDriver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  Transaction,
} from "kysely";

import { AppError } from "../domain/errors.ts";
import type { Executor, Tx } from "./connect.ts";
import type { DB } from "./schema.ts";
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
export async function transaction<T>(
  db: Executor,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptOnce(db, work, options);
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (attempt === attempts)
        throw new AppError("conflict", "Another request changed the same records, try again", {
          cause: error,
        });
    }
  }
}

/** Statements under way that nobody waits for, by the transaction they belong to. */
const unawaited = new WeakMap<Tx, Promise<unknown>[]>();

/**
 * Sends a statement whose answer does not matter to what comes next, and returns at once. Whether it succeeded shows when
 * the transaction ends, which then fails as if the statement had been waited for.
 */
export function later(tx: Tx, statement: RawBuilder<unknown>): void {
  unawaited.get(tx)!.push(handled(statement.execute(tx)));
}

/** A promise that somebody looks at in time. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** The failure of the first that failed, in their order; undefined when none did. */
async function firstFailure(promises: readonly Promise<unknown>[]): Promise<unknown> {
  const failed = (await Promise.allSettled(promises)).find(({ status }) => status === "rejected");
  return failed?.status === "rejected" ? failed.reason : undefined;
}

function attemptOnce<T>(
  db: Executor,
  work: (tx: Tx) => Promise<T>,
  { beginsWithReads = false, onSent }: TransactionOptions,
): Promise<T> {
  return db.getExecutor().provideConnection(async (connection) => {
    const session = openSession(connection);
    const tx = transactionOn(db, session);
    const sent: Promise<unknown>[] = [];
    unawaited.set(tx, sent);
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
      // What came after it failed only because it had.
      throw (await firstFailure(sent)) ?? error;
    }
  });
}

interface Session extends ConnectionProvider {
  begin(): Promise<unknown>;
  /** Ends the transaction, after all that was sent before; nothing can be sent any more. Only the first call counts. */
  end(command: "commit" | "rollback"): Promise<unknown>;
}

/** A connection in a transaction, on which statements do not wait for those sent before. */
function openSession(connection: DatabaseConnection): Session {
  let refusal: Error | undefined;
  let ended: Promise<unknown> | undefined;
  const guarded: DatabaseConnection = {
    executeQuery: (query) =>
      refusal === undefined ? connection.executeQuery(query) : Promise.reject(refusal),
    streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
  };
  return {
    provideConnection: (consumer) => consumer(guarded),
    begin: async () => {
      try {
        await connection.executeQuery(CompiledQuery.raw("begin"));
      } catch (error) {
        // Whatever came next would be kept without the rest.
        refusal = error instanceof Error ? error : new Error(String(error));
        throw error;
      }
    },
    end: (command) => {
      refusal ??= new Error("The transaction has ended");
      ended ??= connection.executeQuery(CompiledQuery.raw(command));
      return ended;
    },
  };
}

/** What the query builder asks of a transaction besides what executes statements; none of it is used. */
const dialect: Dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};
const unused = { config: { dialect }, dialect, driver: dialect.createDriver() };

function transactionOn(db: Executor, session: Session): Tx {
  return new Transaction<DB>({ ...unused, executor: db.getExecutor().withConnectionProvider(session) });
}
