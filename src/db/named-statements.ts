import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";

import { runQuery } from "./run-query.ts";

// A comment with nothing but the name in it.
const nameComment = /^\s*\/\* ([a-z][a-z-]*) \*\//;

/** The name a statement carries; undefined for one without. */
export function statementName(text: string): string | undefined {
  return nameComment.exec(text)?.[1];
}

/**
 * Remembers the text of each name, because a connection that has prepared one refuses any other text under its name.
 * @param onVarying called with the name of a statement that has another text than the first time. When it throws, so
 * does the query; otherwise the statement runs without being prepared: slower, but it runs.
 */
export function createStatementBook(onVarying: (name: string) => void) {
  const texts = new Map<string, string>();
  /** The name to prepare a statement under; undefined for one that is not to be prepared. */
  return (name: string, text: string): string | undefined => {
    const known = texts.get(name);
    if (known === text) return name;
    if (known === undefined) {
      texts.set(name, text);
      return name;
    }
    onVarying(name);
    return undefined;
  };
}

/**
 * Lets statements of the query builder be prepared: one whose text begins with its name in a comment is parsed and
 * planned once for each connection, inside transactions too. Its text must be the same each time. For hot paths.
 * @param nameFor tells under which name to prepare a text, if under any.
 */
export function withNamedStatements(
  pool: pg.Pool,
  nameFor: (name: string, text: string) => string | undefined,
): PostgresPool {
  // The query builder keeps state by client, so each has one wrapper for life.
  const wrappers = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  function wrap(client: pg.PoolClient): PostgresPoolClient {
    const query = (text: unknown, values: unknown[] = []): unknown => {
      // Cursors are objects, not text, and bring callbacks of their own.
      if (typeof text !== "string") return client.query(text as pg.Submittable);
      const given = statementName(text);
      const name = given === undefined ? undefined : nameFor(given, text);
      return runQuery(client, name === undefined ? { text, values } : { name, text, values });
    };
    return { query: query as PostgresPoolClient["query"], release: () => client.release() };
  }

  return {
    connect: async () => {
      const client = await pool.connect();
      const wrapper = wrappers.get(client) ?? wrap(client);
      wrappers.set(client, wrapper);
      return wrapper;
    },
    end: () => pool.end(),
  };
}
