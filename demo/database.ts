import type { Config } from "../src/config.ts";
import { connect, type Database } from "../src/db/connect.ts";
import { findManagedPostgres } from "../src/db/managed/index.ts";
import { timestamp, uuid } from "../src/db/row.ts";
import { identifier, join, query, sql } from "../src/db/sql.ts";
import { createIdSource } from "../src/lib/ids.ts";
import { type CommandDeps, commandTime } from "../src/cli/command-deps.ts";

/** Direct access to the server's database: what the program's own services need, and the organization they write to. */
export type BesideServer = Omit<CommandDeps, "config" | "evidence"> & { orgId: string };

/** The organization as both the API and the database know it. */
export interface DemoOrg {
  name: string;
  created_at: number;
}

/** Opens the database the configuration names. @returns undefined when there is none to be reached. */
async function openDatabase(config: Config): Promise<Database | undefined> {
  const connection = config.databaseUrl ?? (await findManagedPostgres(config.dataDir).catch(() => undefined));
  return connection === undefined ? undefined : connect({ connection, max: 3 });
}

async function findOrgId(db: Database, org: DemoOrg): Promise<string | undefined> {
  const row = await db.first(query({ id: uuid, created_at: timestamp })`
    select id, created_at from organizations where name = ${org.name}`);
  return row !== undefined && row.created_at === org.created_at ? row.id : undefined;
}

/**
 * Updates the planner's statistics after a bulk load: autovacuum would do so minutes later, and plans be bad until
 * then.
 */
export async function learnTables(db: Database, tables: readonly string[]): Promise<void> {
  await db.run(sql`analyze ${join(tables.map((table) => identifier(table)))}`);
}

/**
 * Opens the database behind the server that the organization was just made on. The configuration may be that of another
 * server: only a database that has this very organization will do.
 * @returns undefined when there is none within reach.
 */
export async function openBesideServer(config: Config, org: DemoOrg): Promise<BesideServer | undefined> {
  const db = await openDatabase(config);
  if (db === undefined) return undefined;
  const orgId = await findOrgId(db, org).catch(() => undefined);
  if (orgId !== undefined) {
    const time = await commandTime(db);
    return { db, clock: time, ids: createIdSource(() => time.idMilliseconds()), orgId };
  }
  await db.close();
  return undefined;
}
