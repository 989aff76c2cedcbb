import type pg from "pg";

import { type Placement, placements } from "./placement.ts";
import { commitInTwoPhases } from "./two-phase.ts";

type Queryable = pg.ClientBase | pg.Pool;

/** Why a database cannot be distributed, in a sentence for who runs the installation. */
export class NotDistributable extends Error {}

/** What was done: which tables were moved, how many functions were copied, how many foreign keys and triggers put back. */
export interface Distributed {
  tables: string[];
  functions: number;
  restored: number;
}

/** Settings that every node must have, and why. */
const needed = {
  // Tables count and guard themselves by triggers. None of ours leaves its organization, and so its shard.
  "citus.enable_unsafe_triggers": "on",
} as const;

async function rowsOf<Row extends pg.QueryResultRow>(
  client: Queryable,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await client.query<Row>(text, values)).rows;
}

async function hasCitus(client: Queryable): Promise<boolean> {
  return (await rowsOf(client, "select from pg_extension where extname = 'citus'")).length > 0;
}

/** Tells whether the tables of this database are distributed by Citus. */
export async function isDistributed(client: Queryable): Promise<boolean> {
  if (!(await hasCitus(client))) return false;
  const found = await rowsOf(
    client,
    "select from pg_dist_partition where logicalrelid = to_regclass('audit_log')",
  );
  return found.length > 0;
}

/** @throws NotDistributable unless this is the coordinator of a cluster that is set up for it. */
async function requireCluster(client: pg.ClientBase): Promise<void> {
  if (!(await hasCitus(client)))
    throw new NotDistributable(
      "This database is not on Citus: install Citus on every node and run `create extension citus` in it first",
    );
  const nodes = await rowsOf<{ coordinator: boolean; worker: boolean }>(
    client,
    `select coalesce(bool_or(groupid = 0), false) as coordinator,
       coalesce(bool_or(groupid <> 0 and shouldhaveshards), false) as worker
     from pg_dist_node where isactive`,
  );
  if (nodes[0]?.coordinator !== true)
    throw new NotDistributable(
      "The coordinator does not know its own address: run `select citus_set_coordinator_host('<host>', <port>)` on it",
    );
  if (!nodes[0].worker)
    throw new NotDistributable(
      "The cluster has no workers: add them with `select citus_add_node('<host>', <port>)` first",
    );
  for (const [setting, value] of Object.entries(needed)) {
    const wrong = await rowsOf<{ nodename: string; nodeport: number }>(
      client,
      `select n.nodename, n.nodeport from run_command_on_all_nodes($1) r join pg_dist_node n using (nodeid)
       where r.result <> $2`,
      [`show ${setting}`, value],
    );
    if (wrong[0] !== undefined)
      throw new NotDistributable(
        `${setting} is not ${value} on ${wrong[0].nodename}:${wrong[0].nodeport}: set it in postgresql.conf of every node`,
      );
  }
}

/** Where is kept what a run has taken away and not yet put back. */
const aside = "waybill_distribution.aside";

/**
 * Takes away what stands between tables and their distribution, and notes it: foreign keys, which refer to tables that are
 * elsewhere until all are distributed, and triggers, which must not run for rows that only move.
 */
async function setAside(client: pg.ClientBase, names: readonly string[]): Promise<void> {
  await client.query("begin");
  await client.query("create schema if not exists waybill_distribution");
  await client.query(`create table if not exists ${aside} (
    place bigint generated always as identity, removal text not null, definition text not null)`);
  const found = await rowsOf<{ removal: string }>(
    client,
    `insert into ${aside} (removal, definition)
     select format('alter table %s drop constraint %I', conrelid::regclass, conname),
       format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
     from pg_constraint
     where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace
       and (conrelid = any($1::text[]::regclass[]) or confrelid = any($1::text[]::regclass[]))
     union all
     select format('drop trigger %I on %s', tgname, tgrelid::regclass), pg_get_triggerdef(oid) from pg_trigger
     where not tgisinternal and tgparentid = 0 and tgrelid = any($1::text[]::regclass[])
     returning removal`,
    [names],
  );
  for (const { removal } of found) await client.query(removal);
  await client.query("commit");
}

/** Puts back what was taken away. @returns how much of it there was. */
async function putBack(client: pg.ClientBase): Promise<number> {
  if (!(await wasInterrupted(client))) return 0;
  // Triggers first: who goes on with a part of the rest is guarded at least.
  const rows = await rowsOf<{ place: string; definition: string }>(
    client,
    `select place, definition from ${aside} order by definition like 'alter table %', place`,
  );
  for (const { place, definition } of rows) {
    await client.query("begin");
    // Tables that refer to each other are changed on one connection to each node.
    await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
    await client.query(definition);
    await client.query(`delete from ${aside} where place = $1`, [place]);
    await client.query("commit");
  }
  await client.query("drop schema waybill_distribution cascade");
  return rows.length;
}

/** Tells whether a run has begun and did not end. */
async function wasInterrupted(client: pg.ClientBase): Promise<boolean> {
  return (await rowsOf(client, "select where to_regclass($1) is not null", [aside])).length > 0;
}

/** Every other table of an organization is placed with this one. */
const first = "audit_log";

/** Lists the tables that are to be on other nodes and are not yet, that one first which others are placed with. */
async function listUndistributed(client: pg.ClientBase): Promise<{ name: string; placement: Placement }[]> {
  const tables = await rowsOf<{ name: string }>(
    client,
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and oid not in (select logicalrelid from pg_dist_partition where partmethod = 'h' or repmodel = 't')
     order by relname`,
  );
  const listed = tables.map(({ name }) => {
    const placement = placements.get(name);
    if (placement === undefined)
      throw new NotDistributable(`The table ${name} is not one of Waybill's: move it to another schema`);
    return { name, placement };
  });
  return listed
    .filter(({ placement }) => placement !== "coordinator")
    .toSorted((one, other) => Number(other.name === first) - Number(one.name === first));
}

async function distributeTable(
  client: pg.ClientBase,
  { name, placement }: { name: string; placement: Placement },
): Promise<void> {
  if (placement === "everywhere")
    await client.query("select create_reference_table($1::text::regclass)", [name]);
  else
    await client.query("select create_distributed_table($1::text::regclass, 'org_id', colocate_with => $2)", [
      name,
      name === first ? "none" : first,
    ]);
  // What stays behind in the table on the coordinator is not read any more.
  await client.query("select truncate_local_data_after_distributing_table($1::text::regclass)", [name]);
}

/** Functions that statements call by themselves, with the organization first: each call runs on the node that has it. */
const delegated = new Set(["write_attestations", "write_attestations_as_seen"]);

/** Gives workers the functions that statements and triggers call there. */
async function distributeFunctions(client: pg.ClientBase): Promise<number> {
  const functions = await rowsOf<{ signature: string; name: string }>(
    client,
    `select p.oid::regprocedure::text as signature, p.proname as name from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
       and not exists (select from pg_depend d where d.objid = p.oid and d.classid = 'pg_proc'::regclass and d.deptype = 'e')
       and not exists (
         select from pg_dist_object o where o.objid = p.oid and o.classid = 'pg_proc'::regclass
           and (o.distribution_argument_index is not null or p.proname <> all ($1::text[])))
     order by p.oid`,
    [[...delegated]],
  );
  for (const { signature, name } of functions)
    if (delegated.has(name))
      await client.query(
        "select create_distributed_function($1::text::regprocedure, '$1', colocate_with => $2)",
        [signature, first],
      );
    else await client.query("select create_distributed_function($1::text::regprocedure)", [signature]);
  return functions.length;
}

/** Distributes what is not yet distributed. */
async function distributeRest(client: pg.ClientBase, onTable: (name: string) => void): Promise<Distributed> {
  const tables = await listUndistributed(client);
  if (tables.length > 0)
    await setAside(
      client,
      tables.map(({ name }) => name),
    );
  for (const table of tables) {
    onTable(table.name);
    await distributeTable(client, table);
  }
  const functions = await distributeFunctions(client);
  const restored = await putBack(client);
  await commitInTwoPhases(client);
  return { tables: tables.map(({ name }) => name), functions, restored };
}

/** @throws NotDistributable while servers, or other commands, use the database. */
async function requireAlone(client: pg.ClientBase): Promise<void> {
  const others = await rowsOf(
    client,
    `select from pg_stat_activity
     where datname = current_database() and application_name = 'waybill' and pid <> pg_backend_pid()`,
  );
  if (others.length > 0)
    throw new NotDistributable(
      "Servers are connected to the database: stop them, and start them again afterwards",
    );
}

/**
 * Spreads the tables of a migrated database over the nodes of a Citus cluster, by organization. Each table is a transaction of
 * its own: what was interrupted goes on where it stopped.
 * @param onTable is told of each table before its rows are moved.
 * @throws NotDistributable where there is no cluster, or one that is not set up for it; when it was done before; and while
 * somebody else uses the database.
 */
export async function distribute(
  client: pg.ClientBase,
  onTable: (name: string) => void,
): Promise<Distributed> {
  await requireCluster(client);
  if ((await isDistributed(client)) && !(await wasInterrupted(client)))
    throw new NotDistributable("This database is distributed already");
  await requireAlone(client);
  return distributeRest(client, onTable);
}

/** Distributes what migrations have added to a distributed database. Elsewhere it does nothing. @returns undefined there. */
export async function distributeNew(client: pg.ClientBase): Promise<Distributed | undefined> {
  if (!(await isDistributed(client))) return undefined;
  return distributeRest(client, () => {});
}
