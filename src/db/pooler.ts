import type pg from "pg";

import { answerWithin } from "../lib/answer-within.ts";
import type { Database } from "./connect.ts";
import { beginWithSettings, selectInForce } from "./session-settings.ts";

/** Thrown when what is between the program and PostgreSQL cannot be worked with. The message says what to do. */
export class PoolerError extends Error {}

type Pooler = "session" | "transaction" | undefined;

const hidden =
  "There is a pooler at DATABASE_URL, which leaves out the settings that connections begin with. Set WAYBILL_DATABASE_POOLER to " +
  "transaction or session, as its pool_mode is, or let DATABASE_URL lead to PostgreSQL itself.";

const forgetful =
  "The pooler at DATABASE_URL does not find prepared statements again when it changes connections. Use PgBouncer 1.21 or newer with " +
  "max_prepared_statements of 500 or more, or its session mode with WAYBILL_DATABASE_POOLER=session, or let DATABASE_URL lead to " +
  "PostgreSQL itself.";

const narrow =
  "The pooler at DATABASE_URL does not hand out two connections at a time within ten seconds: give it a larger pool.";

const answerWithinMs = 10_000;

const swaps = 20;

/** Waits for an answer, which a pooler without a free connection never gives. */
function answered<T>(answer: Promise<T>): Promise<T> {
  return answerWithin(answerWithinMs, answer, () => {
    throw new PoolerError(narrow);
  });
}

/**
 * Has two connections prepare a statement each and run it again and again, while the other one holds now this, now that
 * connection of PostgreSQL.
 */
async function swap(clients: readonly [pg.ClientBase, pg.ClientBase]): Promise<void> {
  const ask = async (which: number, value: number): Promise<void> => {
    const query = {
      name: `waybill-pooler-${which}`,
      text: `select $1::int + ${which} as sum`,
      values: [value],
    };
    const { rows } = await answered(clients[which === 0 ? 0 : 1].query<{ sum: number }>(query));
    if (rows[0]?.sum !== value + which) throw new PoolerError(forgetful);
  };
  for (let turn = 0; turn < swaps; turn += 1) {
    const [holding, other] = [turn % 2, (turn + 1) % 2];
    const holder = clients[holding === 0 ? 0 : 1];
    await answered(holder.query("begin"));
    await ask(other, turn);
    await ask(holding, turn);
    await answered(holder.query("commit"));
  }
}

/** Takes a connection for a check. What went wrong on one leaves it to nobody else. */
async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function settingsHold(
  client: pg.ClientBase,
  pooler: Pooler,
): Promise<{ in_force: boolean; pid: number }> {
  const read = async (): Promise<{ in_force: boolean; pid: number }[]> =>
    (await answered(client.query<{ in_force: boolean; pid: number }>(selectInForce))).rows;
  if (pooler !== "transaction") return (await read())[0] ?? { in_force: false, pid: 0 };
  await answered(client.query(beginWithSettings));
  const [row] = await read();
  await answered(client.query("rollback"));
  return row ?? { in_force: false, pid: 0 };
}

function explained(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // PgBouncer before its statement is there, and after it has handed out another connection.
  if (/unsupported startup parameter/i.test(error.message)) return new PoolerError(hidden, { cause: error });
  if (/prepared statement .* (?:does not exist|already exists)/i.test(error.message))
    return new PoolerError(forgetful, { cause: error });
  return error;
}

/**
 * Makes sure that an external database can be worked with as it is reached, by trying: a pooler that cannot keep prepared
 * statements would fail requests one by one later on. One that nobody spoke of shows by its process id, which is not
 * PostgreSQL's.
 * @param pooler what the configuration says there is.
 * @throws PoolerError
 */
export async function checkPooler(db: Pick<Database, "pool">, pooler: Pooler): Promise<void> {
  try {
    await withClient(db.pool, async (first) => {
      const { in_force: inForce, pid } = await settingsHold(first, pooler);
      if (!inForce) throw new PoolerError(hidden);
      const { processID } = first as pg.PoolClient & { processID?: number };
      if (pooler !== "transaction" && processID === pid) return;
      await withClient(db.pool, (second) => swap([first, second]));
    });
  } catch (error) {
    throw explained(error);
  }
}
