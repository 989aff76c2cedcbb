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

/** Runs a statement on a connection of its own. */
export async function runOn<Row extends pg.QueryResultRow>(
  connection: Connection,
  statement: string,
): Promise<Row[]> {
  const target = typeof connection === "string" ? { connectionString: connection } : connection;
  const client = new pg.Client(target);
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

interface Node {
  nodename: string;
  nodeport: number;
}

/** The coordinator comes first. */
async function readNodes(connection: Connection): Promise<Node[]> {
  const [{ is_cluster } = { is_cluster: false }] = await runOn<{ is_cluster: boolean }>(
    connection,
    "select to_regclass('pg_dist_node') is not null as is_cluster",
  );
  if (!is_cluster) return [];
  return runOn(connection, "select nodename, nodeport from pg_dist_node where isactive order by groupid");
}

let nodes: Promise<Node[]> | undefined;

/** Nodes of the run's Citus cluster, the coordinator first; none when its PostgreSQL is an ordinary one. */
function listNodes(connection: Connection): Promise<Node[]> {
  nodes ??= readNodes(connection);
  return nodes;
}

/** Tells whether the run's PostgreSQL is the coordinator of a Citus cluster. */
export async function isCluster(connection: Connection): Promise<boolean> {
  return (await listNodes(connection)).length > 0;
}

/** Runs a statement on the server, or on each node of the cluster. */
async function runOnAll(connection: Connection, statement: string): Promise<void> {
  const all = await listNodes(connection);
  if (all.length === 0 || typeof connection !== "string") {
    await runOn(connection, statement);
    return;
  }
  await Promise.all(
    all.map(({ nodename, nodeport }) => {
      const url = new URL(connection);
      url.hostname = nodename;
      url.port = String(nodeport);
      return runOn(url.href, statement);
    }),
  );
}

/**
 * Makes a database, on each node of a cluster: a clone has its shards and what Citus knows of them; without a template it is empty. The run's
 * own PostgreSQL copies files, which takes it little more than half of the time; the checkpoints that this takes are costly where disks are
 * waited for.
 */
export async function createDatabase(
  connection: Connection,
  name: string,
  template = "template1",
): Promise<void> {
  const strategy = typeof connection === "string" ? "wal_log" : "file_copy";
  await runOnAll(connection, `create database "${name}" template "${template}" strategy ${strategy}`);
}

/** Gives a database to a role that may do what it likes in it, and nothing beyond. */
export async function giveDatabase(connection: Connection, name: string, owner: string): Promise<void> {
  await runOn(
    connection,
    `do $$ begin if not exists (select from pg_roles where rolname = '${owner}') then create role ${owner} login; end if; end $$`,
  );
  await runOn(connection, `alter database "${name}" owner to ${owner}`);
}

export async function dropDatabase(connection: Connection, name: string): Promise<void> {
  // Nodes of a cluster connect to each other of themselves, also while one is being removed.
  const attempts = (await isCluster(connection)) ? 10 : 1;
  for (let attempt = 1; ; attempt += 1)
    try {
      await runOnAll(connection, `drop database if exists "${name}" with (force)`);
      return;
    } catch (error) {
      if (attempt === attempts) throw error;
    }
}

/** Makes a new database one of the cluster. */
export async function joinNodes(connection: Connection, name: string): Promise<void> {
  const [coordinator, ...workers] = await listNodes(connection);
  if (coordinator === undefined || typeof connection !== "string") return;
  const at = ({ nodename, nodeport }: Node): string => `'${nodename}', ${nodeport}`;
  const database = withDatabase(connection, name);
  for (const { nodename, nodeport } of [coordinator, ...workers]) {
    const url = new URL(database);
    url.hostname = nodename;
    url.port = String(nodeport);
    await runOn(url.href, "create extension citus");
  }
  await runOn(database, `select citus_set_coordinator_host(${at(coordinator)})`);
  for (const worker of workers) await runOn(database, `select citus_add_node(${at(worker)})`);
}

/** Lets a database be cloned, which it cannot be while anybody is connected: nodes of a cluster always are. */
export async function sealTemplate(connection: Connection, name: string): Promise<void> {
  if (!(await isCluster(connection))) return;
  await runOnAll(connection, `alter database "${name}" allow_connections false`);
  await runOnAll(
    connection,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
}
