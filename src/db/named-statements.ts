import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";

// A comment with nothing but the name in it.
const nameComment = /^\s*\/\* ([a-z][a-z-]*) \*\//;

/** The name a statement carries; undefined for one without. */
export function statementName(text: string): string | undefined {
  return nameComment.exec(text)?.[1];
}

/**
 * Lets statements of the query builder be prepared: one whose text begins with its name in a comment is parsed and
 * planned once for each connection, inside transactions too. Its text must be the same each time. For hot paths.
 */
export function withNamedStatements(pool: pg.Pool): PostgresPool {
  // The query builder keeps state by client, so each has one wrapper for life.
  const wrappers = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  function wrap(client: pg.PoolClient): PostgresPoolClient {
    const query = (text: unknown, values?: unknown[]): unknown => {
      const name = typeof text === "string" ? statementName(text) : undefined;
      return name === undefined
        ? client.query(text as string, values)
        : client.query({ name, text: text as string, values: values ?? [] });
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
