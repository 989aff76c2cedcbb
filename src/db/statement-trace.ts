import type { Span } from "../lib/tracing/tracing.ts";
import type { Borrowed, Database } from "./connect.ts";
import type { Command, Query } from "./sql.ts";
import { Sql } from "./sql.ts";
import { sqlStateOf } from "./sqlstate.ts";

/** A statement that was run, and what it took. */
interface TracedStatement {
  name: string;
  ms: number;
  rows: number;
}

/** Statements of one name together. */
export interface StatementSum {
  /** `unnamed` for all that have none. */
  name: string;
  times: number;
  /** Milliseconds from sending each to its answer, added up. */
  ms: number;
  rows: number;
}

/** So many statements of a request are remembered. */
const mostStatements = 200;

const unnamed = "unnamed";

/** Shows a statement that has ended as a span. */
function show(within: Span, name: string, began: number, rows: number, error: unknown): void {
  const attributes = {
    "db.system.name": "postgresql",
    "db.query.summary": name,
    "db.response.returned_rows": rows,
  };
  const span = within.child(name, { kind: "client", began, attributes });
  if (error !== undefined) span.fail(sqlStateOf(error) ?? classOf(error));
  span.end();
}

/** Names the class of an error: what it says may hold values. */
function classOf(error: unknown): string {
  return error instanceof Error ? error.name : "_OTHER";
}

/** What the statements of one request or job took. No texts and no values. */
export class StatementTrace {
  readonly #statements: TracedStatement[] = [];
  /** What they are shown as parts of, where that is recorded. */
  readonly span: Span | undefined;
  readonly #whole: Span | undefined;
  /** Milliseconds that transactions waited for a connection. */
  waitedMs = 0;
  /** Statements beyond those that are remembered. */
  more = 0;

  /** @param span of the request or job; undefined where there are no traces. */
  constructor(span?: Span) {
    this.span = span?.isRecorded === true ? span : undefined;
    this.#whole = span;
  }

  /** What names the work to others, recorded or not. */
  get traceparent(): string | undefined {
    return this.#whole?.traceparent;
  }

  /** Whether no more is remembered, nor shown: what goes on for long would fill the trace. */
  get isFull(): boolean {
    return this.#statements.length >= mostStatements;
  }

  /**
   * Notes what a statement, or something else that is waited for, took until now.
   * @param began as `performance.now()` says.
   * @returns whether there was room for it.
   */
  note(name: string, began: number, rows: number): boolean {
    if (this.isFull) {
      this.more += 1;
      return false;
    }
    this.#statements.push({ name, ms: performance.now() - began, rows });
    return true;
  }

  /** Sums up by name, what took longest first. */
  sums(): StatementSum[] {
    const sums = new Map<string, StatementSum>();
    for (const { name, ms, rows } of this.#statements) {
      const sum = sums.get(name) ?? { name, times: 0, ms: 0, rows: 0 };
      sums.set(name, { name, times: sum.times + 1, ms: sum.ms + ms, rows: sum.rows + rows });
    }
    return Array.from(sums.values()).sort((one, other) => other.ms - one.ms);
  }
}

/**
 * Runs a statement and notes what it took, also when it fails.
 * @param count of rows that it answered.
 * @param within what it is shown as part of.
 */
async function noted<T>(
  trace: StatementTrace,
  within: Span | undefined,
  name: string,
  work: () => Promise<T>,
  count: (result: T) => number,
): Promise<T> {
  const began = performance.now();
  let rows = 0;
  let failure: unknown;
  try {
    const result = await work();
    rows = count(result);
    return result;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    if (trace.note(name, began, rows) && within !== undefined) show(within, name, began, rows, failure);
  }
}

/** Notes what something took that several requests share, also when it fails. */
export async function notedTogether<T>(
  trace: StatementTrace,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const began = performance.now();
  const span = trace.span?.child(name, { began });
  try {
    return await work();
  } catch (error) {
    span?.fail(classOf(error));
    throw error;
  } finally {
    span?.end();
    trace.note(name, began, 1);
  }
}

const ends = /^(?:begin|commit|rollback)\b/;

function traceBorrowed(borrowed: Borrowed, trace: StatementTrace, span: Span | undefined): Borrowed {
  return {
    send: (sent) =>
      noted(
        trace,
        span,
        sent.name ?? ends.exec(sent.text)?.[0] ?? unnamed,
        () => borrowed.send(sent),
        ({ rowCount }) => rowCount ?? 0,
      ),
    traceparent: span?.traceparent,
    release: () => {
      span?.end();
      borrowed.release();
    },
  };
}

/** Borrows a connection for a transaction, which is shown from when it waits for the connection. */
async function borrowTraced(db: Database, trace: StatementTrace): Promise<Borrowed> {
  const began = performance.now();
  const within = trace.isFull ? undefined : trace.span;
  const span = within?.child("transaction", {
    kind: "client",
    attributes: { "db.system.name": "postgresql" },
  });
  try {
    return traceBorrowed(await db.borrow(), trace, span);
  } catch (error) {
    span?.fail(classOf(error));
    span?.end();
    throw error;
  } finally {
    trace.waitedMs += performance.now() - began;
  }
}

/** Makes a database whose statements are noted. It is the same one otherwise. */
export function traceDatabase(db: Database, trace: StatementTrace): Database {
  const { span } = trace;
  const nameOf = ({ name }: Pick<Command, "name">): string => name ?? unnamed;
  return {
    ...db,
    all: <Row>(query: Query<Row>) =>
      noted(
        trace,
        span,
        nameOf(query),
        () => db.all(query),
        ({ length }) => length,
      ),
    first: <Row>(query: Query<Row>) =>
      noted(
        trace,
        span,
        nameOf(query),
        () => db.first(query),
        (row) => (row === undefined ? 0 : 1),
      ),
    one: <Row>(query: Query<Row>) =>
      noted(
        trace,
        span,
        nameOf(query),
        () => db.one(query),
        () => 1,
      ),
    run: (command) =>
      noted(
        trace,
        span,
        command instanceof Sql ? unnamed : nameOf(command),
        () => db.run(command),
        (rows) => rows,
      ),
    borrow: () => borrowTraced(db, trace),
  };
}
