import { Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";

import { Gate } from "../lib/gate.ts";
import { GatheringSocket } from "./gathering-socket.ts";
import { createLanes } from "./lanes.ts";
import { createStatementBook, withNamedStatements } from "./named-statements.ts";
import { runQuery } from "./run-query.ts";
import type { DB } from "./schema.ts";

/** Anything that can run a query: the database, or a transaction. */
export type Executor = Kysely<DB>;

/** Proof of being inside a transaction. Functions that write take this and nothing less. */
export type Tx = Transaction<DB>;

/** A statement the server parses and plans once for each connection. For hot paths. */
export interface PreparedStatement {
  name: string;
  text: string;
  /**
   * It takes a fraction of a millisecond, whatever the values and however much data there is: then it shares a
   * connection with others, which wait for it.
   */
  brief?: true;
}

export interface PreparedExecutor {
  /** Runs one prepared statement outside any transaction. */
  prepared<Row extends pg.QueryResultRow>(statement: PreparedStatement, values: unknown[]): Promise<Row[]>;
}

export interface Database extends PreparedExecutor {
  readonly query: Executor;
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

/** `2026-11-21 07:46:00.123456+00` as Unix seconds with a microsecond fraction. Connections run in UTC. */
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
  /** How many of them brief statements share; without any, these take a connection each as all others do. */
  lanes?: number;
  /** Called when an idle connection breaks, for instance because PostgreSQL was restarted. */
  onConnectionError?: (error: Error) => void;
  /**
   * Called when a statement comes with another text than it had under its name before, which is a mistake in the program:
   * it is not prepared then. When this throws, the query fails.
   */
  onVaryingStatement?: (name: string) => void;
}

/**
 * Opens a pool of connections. Moments come back as Unix seconds and 64-bit integers as numbers, which is how the wire
 * has them, so rows need no mapping.
 */
export function connect(options: ConnectOptions): Database {
  const target =
    typeof options.connection === "string"
      ? { connectionString: options.connection }
      : { ...options.connection };
  const client: pg.ClientConfig = {
    ...target,
    stream: () => new GatheringSocket(),
    types,
    application_name: "waybill",
    options:
      "-c timezone=UTC -c client_min_messages=warning -c statement_timeout=60000 -c idle_in_transaction_session_timeout=60000",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 10_000,
  };
  const report = (error: Error): void => options.onConnectionError?.(error);
  const { max, lanes: laneCount = 0 } = options;
  const lanes =
    laneCount === 0 ? undefined : createLanes({ client, count: laneCount, onConnectionError: report });
  const pool = new pg.Pool({ ...client, pipeline: true, max: max - laneCount, idleTimeoutMillis: 60_000 });
  pool.on("error", report);
  pool.on("connect", (client) => client.on("error", report));
  const nameFor = createStatementBook((name) => options.onVaryingStatement?.(name));
  const query = new Kysely<DB>({
    dialect: new PostgresDialect({ pool: withNamedStatements(pool, nameFor) }),
  });
  const slices = new Gate(Math.max(1, Math.floor(max / 8)));
  return {
    query,
    sliced: (read) => slices.run(read),
    pool,
    prepared: async <Row extends pg.QueryResultRow>(statement: PreparedStatement, values: unknown[]) => {
      const { text, brief } = statement;
      const name = nameFor(statement.name, text);
      const query = name === undefined ? { text, values } : { name, text, values };
      const { rows } = await (brief === true && lanes !== undefined
        ? lanes.run(query)
        : runQuery(pool, query));
      return rows as Row[];
    },
    close: async () => {
      await lanes?.close();
      await query.destroy();
      // Kysely ends only a pool that it has used itself.
      if (!pool.ended) await pool.end();
    },
  };
}
