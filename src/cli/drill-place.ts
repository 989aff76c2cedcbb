import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

import type { Config } from "../config.ts";
import { connect, type Database } from "../db/connect.ts";
import { type Dedicated, openDedicated } from "../db/dedicated.ts";
import { findManagedPostgres, startManagedPostgres } from "../db/managed/index.ts";
import { silentLog } from "../lib/log.ts";
import { parseUrl } from "../lib/url.ts";
import { createDatabase, dropDatabase, findPlaceBeside } from "../modules/maintenance/backups/drill-store.ts";

/** A database that is there for a drill, and a folder for its files. */
export interface DrillPlace {
  db: Database;
  folder: string;
  /** Removes all of it, whatever is under way there. */
  remove(): Promise<void>;
}

const pool = { max: 4 };

/** Nothing of this cluster outlives the drill, so nothing of it has to survive a crash. */
const passing = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "256MB",
  cluster_name: "waybill-drill",
};

/** Removes what an interrupted drill left in its folder, with the PostgreSQL that may still run there. */
async function removeFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  if ((await findManagedPostgres(folder)) !== undefined)
    await (await startManagedPostgres({ dataDir: folder, log: silentLog, settings: passing })).stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Closes connections without waiting for what is under way. */
function forget(db: Database): void {
  db.close().catch(() => {});
}

async function openCluster(folder: string): Promise<DrillPlace> {
  const managed = await startManagedPostgres({ dataDir: folder, log: silentLog, settings: passing });
  const db = connect({ connection: managed.connection, ...pool });
  return {
    db,
    folder,
    remove: async () => {
      await managed.stop();
      forget(db);
      await removeFolder(folder);
    },
  };
}

/** Opens a database beside the one of the configuration; undefined where none can be made. */
async function openBeside(
  control: Dedicated,
  { databaseDirectUrl, databasePooler, databaseUrl }: Config,
  folder: string,
): Promise<DrillPlace | undefined> {
  const url = parseUrl(databaseDirectUrl ?? (databasePooler === undefined ? (databaseUrl ?? "") : ""));
  const place = await findPlaceBeside(control);
  if (url === undefined || !place.can) return undefined;
  await dropDatabase(control, place);
  await createDatabase(control, place);
  url.pathname = `/${place.name}`;
  const db = connect({ connection: url.href, ...pool });
  return {
    db,
    folder,
    remove: async () => {
      await dropDatabase(control, place);
      forget(db);
      await removeFolder(folder);
    },
  };
}

/**
 * Makes a place for a drill: with the managed PostgreSQL a cluster of its own in the data directory; with an external one a database
 * beside it where the role may make one, else such a cluster, too. What an earlier drill left is removed first.
 * @throws ManagedPostgresError where a cluster cannot be made.
 */
export async function openDrillPlace(source: Database, config: Config): Promise<DrillPlace> {
  const folder = join(config.dataDir, "drill");
  await removeFolder(folder);
  if (config.databaseUrl === undefined) return openCluster(folder);
  const control = await openDedicated(source);
  try {
    const beside = await openBeside(control, config, folder);
    if (beside === undefined) {
      control.cut();
      return await openCluster(folder);
    }
    const { remove } = beside;
    return { ...beside, remove: () => remove().finally(() => control.cut()) };
  } catch (error) {
    control.cut();
    throw error;
  }
}
