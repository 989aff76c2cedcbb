import type pg from "pg";

import { areFew } from "../lib/steps.ts";
import { nextTurn } from "../lib/turns.ts";
import { type Columns, rowProblem } from "./row.ts";
import { type Command, type Query, render, Sql } from "./sql.ts";

/** Anything that can run a statement: the database, or a transaction. */
export interface Executor {
  /** Reads all rows. */
  all<Row>(query: Query<Row>): Promise<Row[]>;
  /** Reads the first row; undefined when there is none. */
  first<Row>(query: Query<Row>): Promise<Row | undefined>;
  /**
   * Reads the only row.
   * @throws Error when there is none, which is a mistake in the program.
   */
  one<Row>(query: Query<Row>): Promise<Row>;
  /** Runs a statement for its effect. @returns how many rows it changed. */
  run(command: Sql | Command): Promise<number>;
}

/** A statement as the driver takes it. */
export interface Sent {
  name: string | undefined;
  text: string;
  values: unknown[];
}

export interface ExecutorOptions {
  /** Sends a statement to PostgreSQL. @param pipelined see `QueryOptions`. */
  send(statement: Sent, pipelined: boolean): Promise<pg.QueryResult>;
  /** Compares the rows of each answer with the columns that its statement claims. For tests. */
  checkRows: boolean;
}

/** Finds a problem of rows, of many in a turn of its own: tests that measure turns see those of a program without this check. */
async function problemOfRows(columns: Columns, answer: pg.QueryResult): Promise<string | undefined> {
  if (areFew(answer.rows.length)) return rowProblem(columns, answer);
  await nextTurn();
  const problem = rowProblem(columns, answer);
  await nextTurn();
  return problem;
}

/** Makes what runs statements from what sends them. */
export function createExecutor({ send, checkRows }: ExecutorOptions): Executor {
  async function read<Row>({ name, sql, columns, pipelined }: Query<Row>): Promise<Row[]> {
    const { text, values } = render(sql);
    const answer = await send({ name, text, values }, pipelined);
    const problem = checkRows ? await problemOfRows(columns, answer) : undefined;
    if (problem !== undefined)
      throw new Error(`Not as claimed: ${problem}, in the answer of ${name ?? text}`);
    return answer.rows as Row[];
  }

  return {
    all: read,
    first: async (query) => (await read(query))[0],
    one: async (query) => {
      const [row] = await read(query);
      if (row === undefined) throw new Error(`${query.name ?? "A statement"} answered no row`);
      return row;
    },
    run: async (given) => {
      const { name, sql } = given instanceof Sql ? { name: undefined, sql: given } : given;
      const { rowCount } = await send({ name, ...render(sql) }, false);
      return rowCount ?? 0;
    },
  };
}
