import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { flush } from "../../lib/flush.ts";
import { codeOf, explained, ManagedPostgresError } from "./errors.ts";
import { findManagedPostgres } from "./find.ts";
import { chooseIdentity } from "./identity.ts";
import { prepareDataDir } from "./layout.ts";
import type { Layout } from "./layout.ts";
import { finishRestore, isRestoreUnfinished, noteRestore } from "./recovery.ts";
import { removeAbandoned, temporaryDirectory } from "./temporary.ts";
import { lifeFile, offFile } from "./wal-archive.ts";

async function isEmpty({ cluster }: Layout): Promise<boolean> {
  try {
    return (await readdir(cluster)).length === 0;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw error;
  }
}

/** @throws ManagedPostgresError when a PostgreSQL runs there. */
async function requireNobody({ dataDir }: Layout): Promise<void> {
  if ((await findManagedPostgres(dataDir)) === undefined) return;
  throw new ManagedPostgresError(
    `A server is running on the data directory ${dataDir}: stop it first, or restore into another one.`,
  );
}

/** Looks again once none can start any more: files may take an hour to come. @throws ManagedPostgresError when a PostgreSQL runs there. */
async function requireStillNobody(layout: Layout): Promise<void> {
  try {
    await requireNobody(layout);
  } catch (error) {
    // Its database is whole.
    await finishRestore(layout.dataDir);
    throw error;
  }
}

/**
 * Puts the files of a database, as a physical backup has them, into a data directory. From then on no server starts on it until
 * `finishRestore`. What was there before goes when all files have come.
 * @param fill writes the files into a folder.
 * @throws ManagedPostgresError when a PostgreSQL runs there, or there is a database that must not be replaced.
 */
export async function replaceCluster(
  dataDir: string,
  options: { replace: boolean },
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const identity = await chooseIdentity(dataDir);
  const layout = await prepareDataDir(dataDir, identity.switched);
  await requireNobody(layout);
  const isNew = await isEmpty(layout);
  if (!isNew && !options.replace && !isRestoreUnfinished(layout))
    throw new ManagedPostgresError(
      `There is a database in ${layout.cluster}: it goes only with --force-nonempty.`,
    );
  // Where nothing is a server would make an empty database.
  if (isNew) await noteRestore(layout);
  await explained(`restore the database into ${layout.cluster}`, async () => {
    await removeAbandoned(layout.cluster);
    const temporary = await temporaryDirectory(layout.cluster);
    try {
      await fill(temporary.path);
      // PostgreSQL brings the files to the disk when it recovers.
      await rm(join(temporary.path, lifeFile), { force: true });
      await noteRestore(layout);
      if (!isNew) await requireStillNobody(layout);
      await rm(layout.cluster, { recursive: true, force: true });
      await rm(offFile(layout), { force: true });
      await rename(temporary.path, layout.cluster);
      await flush(layout.dataDir);
    } finally {
      await temporary.remove();
    }
  });
}
