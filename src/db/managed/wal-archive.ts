import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "pg";
import { z } from "zod";
import { flush } from "../../lib/flush.ts";
import type { Logger } from "../../lib/log.ts";
import { codeOf, ManagedPostgresError, messageOf, systemReason } from "./errors.ts";
import { findBarrier } from "./identity.ts";
import type { Identity } from "./identity.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { placeScript } from "./scripts.ts";

/** Where PostgreSQL archives its write-ahead log (WAL), and by what. */
export interface WalArchiveOptions {
  /** The folder. Each life of a database has one of its own below it: whatever was restored begins a new life. */
  folder: string;
  /** The script that copies a file. */
  script: string;
}

/** The archive of the database in a data directory. All paths are absolute. */
export interface WalArchive {
  /** Names what one database wrote, from its first start with an archive until it is restored, or has none for a while. */
  life: string;
  /** The folder that was configured. */
  folder: string;
  /** Files of the log: `<name>.gz`. */
  wal: string;
  /** Physical backups. */
  base: string;
  /** Contents of evidence, of all lives, as a store of evidence keeps them. */
  evidence: string;
  /** Where something is noted that a restore needs not know. */
  root: string;
  /** While this file is there nothing is archived. */
  off: string;
}

/** In the cluster, so that what takes its place has none. A restore removes it. */
export const lifeFile = "waybill-wal-archive";

/** Names the file that turns archiving off. It is beside the cluster, for the same reason. */
export function offFile(layout: Layout): string {
  return join(layout.dataDir, "wal-archive-off");
}

const Life = z.object({ life: z.string(), folder: z.string() });

function archiveOf(layout: Layout, { life, folder }: z.output<typeof Life>): WalArchive {
  const root = join(folder, life);
  return {
    life,
    folder,
    root,
    wal: join(root, "wal"),
    base: join(root, "base"),
    evidence: join(folder, "evidence"),
    off: offFile(layout),
  };
}

async function readLife(layout: Layout): Promise<z.output<typeof Life> | undefined> {
  try {
    return Life.parse(JSON.parse(await readFile(join(layout.cluster, lifeFile), "utf8")));
  } catch (error) {
    // One that a full disk cut off is no more than none.
    if (codeOf(error) === "ENOENT" || error instanceof SyntaxError || error instanceof z.ZodError)
      return undefined;
    throw error;
  }
}

/** Finds the archive that the database in a data directory writes to; undefined when it has none. */
export async function findWalArchive(dataDir: string): Promise<WalArchive | undefined> {
  const layout = await layoutOf(dataDir).catch(() => undefined);
  const life = layout && (await readLife(layout));
  return layout && life && archiveOf(layout, life);
}

async function writeLife({ layout, identity }: Preparing, life: z.output<typeof Life>): Promise<void> {
  const path = join(layout.cluster, lifeFile);
  const temporary = `${path}.new`;
  await writeFile(temporary, `${JSON.stringify(life)}\n`, { mode: 0o600 });
  // A base backup reads every file.
  if (identity.switched) await chown(temporary, identity.uid, identity.gid);
  await flush(temporary);
  await rename(temporary, path);
  await flush(layout.cluster);
}

interface Preparing {
  layout: Layout;
  identity: Identity;
  log: Logger;
}

async function makeFolders({ identity }: Preparing, archive: WalArchive): Promise<void> {
  const [passed, own] = [identity.switched ? 0o711 : 0o700, 0o700];
  for (const [path, mode] of [
    [archive.folder, passed],
    [archive.root, passed],
    [archive.wal, own],
    [archive.base, own],
    [archive.evidence, own],
  ] as const) {
    const made = await mkdir(path, { recursive: true, mode });
    if (made !== undefined) await chmod(path, mode);
  }
  if (identity.switched) await chown(archive.wal, identity.uid, identity.gid);
  for (const path of [archive.folder, archive.root]) await flush(path);
  const barrier = await findBarrier(archive.wal, identity);
  if (barrier !== undefined)
    throw new ManagedPostgresError(
      `PostgreSQL runs as user ${identity.name}, who cannot enter ${barrier}, which is on the way to the WAL archive ${archive.wal}. ` +
        `Choose another folder for WAYBILL_WAL_TO, or allow the passage with: chmod o+x '${barrier}'`,
    );
}

function newLife(): string {
  const stamp = new Date().toISOString().replaceAll(/[-:]/g, "").replace(/\.\d+/, "");
  return `${stamp}-${randomBytes(4).toString("hex")}`;
}

/** Begins a life in a folder. @throws ManagedPostgresError when that cannot be written to. */
async function beginLife(preparing: Preparing, folder: string, life: string): Promise<WalArchive> {
  const archive = archiveOf(preparing.layout, { life, folder });
  await makeFolders(preparing, archive).catch((error: unknown) => {
    if (error instanceof ManagedPostgresError) throw error;
    throw new ManagedPostgresError(
      `The WAL archive cannot be kept in ${folder} (WAYBILL_WAL_TO): ${systemReason(error) ?? messageOf(error)}.`,
      { cause: error },
    );
  });
  await rm(archive.off, { force: true });
  await writeLife(preparing, { life, folder });
  return archive;
}

/** The setting of PostgreSQL that says where it archives, for whoever takes over one that runs. */
const whereSetting = "waybill.wal_archive";

/**
 * Makes ready where PostgreSQL archives its log. An archive that was there before and is away keeps nothing from starting: PostgreSQL
 * holds its log until it is back. Without an archive the life of the last one ends, as what is written now is not in it.
 * @throws ManagedPostgresError when a new archive cannot be written to.
 */
export async function prepareWalArchive(
  preparing: Preparing,
  options: WalArchiveOptions | undefined,
): Promise<{ settings: Record<string, string>; environment: Record<string, string> }> {
  const { layout, log } = preparing;
  const known = await readLife(layout);
  if (options === undefined) {
    if (known !== undefined) await rm(join(layout.cluster, lifeFile), { force: true });
    return { settings: {}, environment: {} };
  }
  let archive: WalArchive;
  if (known?.folder === options.folder) {
    archive = archiveOf(layout, known);
    if (!existsSync(archive.wal))
      log.error(
        { folder: archive.wal },
        "The WAL archive is not there: is its disk mounted? PostgreSQL keeps its log until it is",
      );
  } else archive = await beginLife(preparing, options.folder, newLife());
  return {
    settings: {
      archive_mode: "on",
      archive_timeout: "60s",
      archive_command: '/bin/sh "$WAYBILL_WAL_SCRIPT" "%p" "%f"',
      [whereSetting]: archive.wal,
    },
    environment: {
      WAYBILL_WAL_SCRIPT: await placeScript(layout, options.script, "wal-archive.sh"),
      WAYBILL_WAL_FOLDER: archive.wal,
      WAYBILL_WAL_OFF: archive.off,
    },
  };
}

/** Says whether a PostgreSQL that runs archives its log where these settings say. */
export async function archivesAs(
  client: Client,
  settings: Readonly<Record<string, string>>,
): Promise<boolean> {
  const { rows } = await client.query<{ folder: string | null }>(
    "SELECT current_setting($1, true) AS folder",
    [whereSetting],
  );
  return (rows[0]?.folder ?? "") === (settings[whereSetting] ?? "");
}

/**
 * Wakes what ends the files of the log in time for the archive, where these settings name one. It begins before PostgreSQL has recovered,
 * when it has nothing to end, and then sleeps until its next checkpoint, for five minutes, whatever `archive_timeout` says.
 */
export async function wakeArchiving(
  client: Client,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  if (settings[whereSetting] !== undefined) await client.query("SELECT pg_reload_conf()");
}

/** Says whether PostgreSQL is to archive nothing for the time being. */
export function isArchivingOff(archive: WalArchive): boolean {
  return existsSync(archive.off);
}

/** Has PostgreSQL archive nothing, and forget its log, lest it fills the disk. What it forgets is missing in the archive. */
export async function switchArchivingOff(archive: WalArchive): Promise<void> {
  await writeFile(archive.off, "The archive was away for too long.\n", { mode: 0o644 });
  await flush(archive.off);
}

/** Has PostgreSQL archive again. What came before is not in the archive, so a physical backup has to follow. */
export async function switchArchivingOn(archive: WalArchive): Promise<void> {
  await rm(archive.off, { force: true });
}
