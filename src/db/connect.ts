import pg from "pg";

import { ConcurrencyLimit } from "../lib/concurrency-limit.ts";
import { createExecutor, type Executor, type Sent } from "./executor.ts";
import { GatheringSocket } from "./gathering-socket.ts";
import { createPipelinedConnections } from "./pipelined-connections.ts";
import { runQuery } from "./run-query.ts";
import type { Command, Sql } from "./sql.ts";
import { createStatementBook } from "./statement-book.ts";

export type { Executor } from "./executor.ts";

/** Proof of being inside a transaction. Functions that write take this and nothing less. */
export interface Tx extends Executor {
  /**
   * Sends a statement whose answer does not matter to what comes next, and returns at once. Whether it succeeded shows when
   * the transaction ends, which then fails as if the statement had been waited for.
   */
  send(command: Sql | Command): void;
}

/** A connection of the pool that somebody has for a while. */
export interface Borrowed {
  send(statement: Sent): Promise<pg.QueryResult>;
  release(): void;
}

/** Where connections for transactions come from. */
export interface ConnectionSource {
  borrow(): Promise<Borrowed>;
  /** See `ConnectOptions`. */
  readonly checkRows: boolean;
}

/** Runs statements outside of transactions, each on its own, and lends connections to transactions. */
export interface Database extends Executor, ConnectionSource {
  /**
   * Runs reads that are parts of long answers: a few at a time, however many such answers there are, so that most
   * connections are left to everybody else.
   */
  sliced<T>(read: () => Promise<T>): Promise<T>;
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

const timestamptzOid = 1184;
const int8Oid = 20;

/** Reads `2026-11-21 07:46:00.123456+00` as Unix seconds with a microsecond fraction. Connections run in UTC. */
function parseTimestamp(text: string): number {
  if (text === "infinity") return Infinity;
  if (text === "-infinity") return -Infinity;
  const point = text.indexOf(".");
  const plus = text.lastIndexOf("+");
  const whole = text.slice(0, point === -1 ? plus : point);
  const fraction = point === -1 ? 0 : Number(`0${text.slice(point, plus)}`);
  return Math.round((Date.parse(`${whole.replace(" ", "T")}Z`) / 1000 + fraction) * 1e6) / 1e6;
}

const types = new pg.TypeOverrides();
types.setTypeParser(timestamptzOid, parseTimestamp);
types.setTypeParser(int8Oid, Number);

export interface ConnectOptions {
  /** A URL, or the parameters of the managed server's socket. */
  connection: string | { host: string; port: number; user: string; database: string };
  /** Connections kept at most. */
  max: number;
  /** How many of them pipelined queries share; without any, these take a connection each as all others do. */
  pipelinedConnections?: number;
  /** Called when an idle connection breaks, for instance because PostgreSQL was restarted. */
  onConnectionError?: (error: Error) => void;
  /**
   * Called when a statement comes with another text than it had under its name before, which is a mistake in the program:
   * it is not prepared then. When this throws, the query fails.
   */
  onVaryingStatement?: (name: string) => void;
  /** Compares each answer with the columns that its statement claims. For tests. */
  checkRows?: boolean;
}

/** Connects as every connection of the program does. */
function clientConfig(connection: ConnectOptions["connection"]): pg.ClientConfig {
  return {
    ...(typeof connection === "string" ? { connectionString: connection } : connection),
    stream: () => new GatheringSocket(),
    types,
    application_name: "waybill",
    options:
      "-c timezone=UTC -c client_min_messages=warning -c statement_timeout=60000 -c idle_in_transaction_session_timeout=60000",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 10_000,
  };
}

/**
 * Opens a pool of connections. Moments come back as Unix seconds and 64-bit integers as numbers, which is how the wire
 * has them, so rows need no mapping.
 */
export function connect(options: ConnectOptions): Database {
  const { max, pipelinedConnections: count = 0, checkRows = false } = options;
  const client = clientConfig(options.connection);
  const onConnectionError = (error: Error): void => options.onConnectionError?.(error);
  const pipelined =
    count === 0 ? undefined : createPipelinedConnections({ client, count, onConnectionError });
  const pool = new pg.Pool({ ...client, pipeline: true, max: max - count, idleTimeoutMillis: 60_000 });
  pool.on("error", onConnectionError);
  pool.on("connect", (opened) => opened.on("error", onConnectionError));
  const nameFor = createStatementBook((name) => options.onVaryingStatement?.(name));
  const prepare = ({ name, text, values }: Sent): pg.QueryConfig<unknown[]> => {
    const prepared = name === undefined ? undefined : nameFor(name, text);
    return prepared === undefined ? { text, values } : { name: prepared, text, values };
  };
  const slices = new ConcurrencyLimit(Math.max(1, Math.floor(max / 8)));
  return {
    ...createExecutor({
      send: async (sent, isPipelined) =>
        isPipelined && pipelined !== undefined ? pipelined.run(prepare(sent)) : runQuery(pool, prepare(sent)),
      checkRows,
    }),
    checkRows,
    borrow: async () => {
      const borrowed = await pool.connect();
      return {
        send: async (sent) => runQuery(borrowed, prepare(sent)),
        release: () => borrowed.release(),
      };
    },
    sliced: (read) => slices.run(read),
    pool,
    close: async () => {
      await pipelined?.close();
      if (!pool.ended) await pool.end();
    },
  };
}
