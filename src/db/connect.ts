import pg from "pg";

import { ConcurrencyLimit } from "../lib/concurrency-limit.ts";
import { isDeadlock, pastCollisions } from "./collisions.ts";
import { createExecutor, type Executor, type Sent } from "./executor.ts";
import { GatheringSocket } from "./gathering-socket.ts";
import { createPipelinedConnections } from "./pipelined-connections.ts";
import { ReplanningClient } from "./replanning-client.ts";
import { runQuery } from "./run-query.ts";
import { beginWithSettings, setForSession, startupOptions } from "./session-settings.ts";
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
  /** Names it to what it queues, where its trace is recorded. */
  readonly traceparent?: string | undefined;
}

/** A connection of the pool that somebody has for a while. */
export interface Borrowed {
  send(statement: Sent): Promise<pg.QueryResult>;
  release(): void;
  /** See `Tx`. */
  readonly traceparent?: string | undefined;
}

/** Where connections for transactions come from. */
export interface ConnectionSource {
  borrow(): Promise<Borrowed>;
  /** What begins a transaction. */
  readonly begin: string;
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
  /** Connections that are their user's own, also when there is a pooler: for locks of sessions, and for listening. */
  readonly direct: pg.Pool;
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
  /** What a pooler there hands out a connection for; undefined when there is none. */
  pooler?: "session" | "transaction" | undefined;
  /** The same database without the pooler. Needed when that one hands out connections for a transaction. */
  direct?: string | undefined;
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
  /** Bytes of a row up to which it is read; see `guardReading`. Other than in tests it is not given. */
  largestRow?: number | undefined;
  /** Compares each answer with the columns that its statement claims. For tests. */
  checkRows?: boolean;
  /** Called with every statement of the program before it is sent; the query fails when this throws. For tests. */
  onStatement?: (statement: Sent) => void;
}

/** Connects as every connection of the program does. Poolers refuse the settings of a start. */
function clientConfig(connection: ConnectOptions["connection"], pooler: ConnectOptions["pooler"]) {
  return {
    ...(typeof connection === "string" ? { connectionString: connection } : connection),
    stream: () => new GatheringSocket(),
    types,
    application_name: "waybill",
    ...(pooler === undefined ? { options: startupOptions } : {}),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 10_000,
  } satisfies pg.ClientConfig;
}

/** Connections for what cannot go through a pooler: each crew of background jobs listens on one, and asks on others. */
const directConnections = 6;

function openPool(config: pg.PoolConfig, onConnectionError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    Client: ReplanningClient,
    pipeline: true,
    idleTimeoutMillis: 60_000,
  });
  pool.on("error", onConnectionError);
  pool.on("connect", (opened) => opened.on("error", onConnectionError));
  return pool;
}

/** Runs a statement in a transaction of its own, with all that belongs to it sent at once. */
async function sendAlone(connection: Borrowed, begin: string, statement: Sent): Promise<pg.QueryResult> {
  const plain = (text: string): Sent => ({ name: undefined, text, values: [] });
  try {
    const [begun, answered, ended] = await Promise.allSettled(
      [plain(begin), statement, plain("commit")].map((sent) => connection.send(sent)),
    );
    for (const outcome of [begun, answered, ended]) if (outcome?.status === "rejected") throw outcome.reason;
    return (answered as PromiseFulfilledResult<pg.QueryResult>).value;
  } finally {
    connection.release();
  }
}

/**
 * Opens a pool of connections. Moments come back as Unix seconds and 64-bit integers as numbers, which is how the wire
 * has them, so rows need no mapping.
 */
export function connect(options: ConnectOptions): Database {
  const { max, pooler, checkRows = false } = options;
  const client = { ...clientConfig(options.connection, pooler), largestRow: options.largestRow };
  const onConnectionError = (error: Error): void => options.onConnectionError?.(error);
  // What a pooler does with many statements at a time on one connection is its own affair.
  const count = pooler === undefined ? (options.pipelinedConnections ?? 0) : 0;
  const pipelined =
    count === 0 ? undefined : createPipelinedConnections({ client, count, onConnectionError });
  const pool = openPool({ ...client, max: max - count }, onConnectionError);
  if (pooler === "session")
    pool.on("connect", (opened) => {
      // Before whatever the one asks who waits for the connection.
      opened.query(setForSession).catch(onConnectionError);
    });
  const direct =
    options.direct === undefined
      ? pool
      : openPool({ ...clientConfig(options.direct, undefined), max: directConnections }, onConnectionError);
  const begin = pooler === "transaction" ? beginWithSettings : "begin";
  const nameFor = createStatementBook((name) => options.onVaryingStatement?.(name));
  const prepare = (sent: Sent): pg.QueryConfig<unknown[]> => {
    options.onStatement?.(sent);
    const { name, text, values } = sent;
    const prepared = name === undefined ? undefined : nameFor(name, text);
    return prepared === undefined ? { text, values } : { name: prepared, text, values };
  };
  const borrow = async (): Promise<Borrowed> => {
    const borrowed = await pool.connect();
    return {
      send: async (sent) => runQuery(borrowed, prepare(sent)),
      release: () => borrowed.release(),
    };
  };
  const sendOnce = async (sent: Sent, isPipelined: boolean): Promise<pg.QueryResult> => {
    if (pooler === "transaction") return sendAlone(await borrow(), begin, sent);
    return isPipelined && pipelined !== undefined
      ? pipelined.run(prepare(sent))
      : runQuery(pool, prepare(sent));
  };
  const slices = new ConcurrencyLimit(Math.max(1, Math.floor(max / 8)));
  return {
    ...createExecutor({
      // A migration, say, locks table after table while requests go on.
      send: (sent, isPipelined) => pastCollisions(() => sendOnce(sent, isPipelined), isDeadlock),
      checkRows,
    }),
    checkRows,
    borrow,
    begin,
    sliced: (read) => slices.run(read),
    pool,
    direct,
    close: async () => {
      await pipelined?.close();
      for (const open of new Set([pool, direct])) if (!open.ended) await open.end();
    },
  };
}
