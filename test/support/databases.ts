import pg from "pg";

import type { ConnectOptions } from "../../src/db/connect.ts";

export type Connection = ConnectOptions["connection"];

/** The same server, another database. */
export function withDatabase(connection: Connection, database: string): Connection {
  if (typeof connection !== "string") return { ...connection, database };
  const url = new URL(connection);
  url.pathname = `/${database}`;
  return url.href;
}

/** A database of a server as a URL, as servers in a process of their own are told of it. */
export function urlOf(server: Connection, database: string): string {
  const connection = withDatabase(server, database);
  if (typeof connection === "string") return connection;
  const { host, port, user } = connection;
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}

async function run(connection: Connection, statement: string): Promise<void> {
  const target = typeof connection === "string" ? { connectionString: connection } : connection;
  const client = new pg.Client(target);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

export async function createDatabase(connection: Connection, name: string, template?: string): Promise<void> {
  await run(
    connection,
    `create database "${name}" ${template === undefined ? "" : `template "${template}"`}`,
  );
}

export async function dropDatabase(connection: Connection, name: string): Promise<void> {
  await run(connection, `drop database if exists "${name}" with (force)`);
}
