import { existsSync } from "node:fs";
import { chown, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { flush } from "../../lib/flush.ts";
import { ManagedPostgresError } from "./errors.ts";
import type { Identity } from "./identity.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { placeScript } from "./scripts.ts";

/** How PostgreSQL recovers files that a physical backup brought. */
export interface Recovery {
  /** What brings files of the write-ahead log, and where from; nothing but what is in the backup when left out. A folder of ours is given to PostgreSQL's user. */
  log?: { script: string; folder: string; isOurs?: boolean } | undefined;
  /** The moment to end at, ISO 8601 with an offset; the end of the log when left out. */
  until?: string | undefined;
}

/** In the data directory from before the first file of a restore is there until all of it was checked. */
function noteOf(layout: Layout): string {
  return join(layout.dataDir, "restore-unfinished");
}

/** Says whether a restore of PostgreSQL's files began that did not finish. */
export function isRestoreUnfinished(layout: Layout): boolean {
  return existsSync(noteOf(layout));
}

/** Refuses a data directory that a restore of PostgreSQL's files did not finish. @throws ManagedPostgresError. */
export function requireFinishedRestore(layout: Layout): void {
  if (isRestoreUnfinished(layout))
    throw new ManagedPostgresError(
      `A restore into ${layout.dataDir} did not finish, so that its database is incomplete: run \`waybill restore\` again, which begins anew.`,
    );
}

/** Notes that a restore of PostgreSQL's files begins. */
export async function noteRestore(layout: Layout): Promise<void> {
  const note = noteOf(layout);
  await writeFile(note, "A restore has not finished.\n", { mode: 0o600 });
  await flush(note);
  await flush(layout.dataDir);
}

/** Notes that what was restored is complete and right: servers may have it. */
export async function finishRestore(dataDir: string): Promise<void> {
  const layout = await layoutOf(dataDir);
  await rm(noteOf(layout), { force: true });
  await flush(layout.dataDir);
}

/** Makes a folder, and the files in it, those of a user. */
async function giveFolder(folder: string, { uid, gid }: Identity): Promise<void> {
  await chown(folder, uid, gid);
  for (const name of await readdir(folder)) await chown(join(folder, name), uid, gid);
}

/** Settings and environment of a PostgreSQL that recovers; writes what tells it to. */
export async function prepareRecovery(
  { layout, identity }: { layout: Layout; identity: Identity },
  { log, until }: Recovery,
): Promise<{ settings: Record<string, string>; environment: Record<string, string> }> {
  // Nobody is let in before the end.
  const settings: Record<string, string> = {
    hot_standby: "off",
    recovery_target_action: "promote",
    // Says how far it came.
    log_min_messages: "log",
  };
  if (until !== undefined) settings["recovery_target_time"] = until;
  if (log === undefined) return { settings, environment: {} };
  const signal = join(layout.cluster, "recovery.signal");
  await writeFile(signal, "", { mode: 0o600 });
  if (identity.switched) await chown(signal, identity.uid, identity.gid);
  settings["restore_command"] = '/bin/sh "$WAYBILL_WAL_SCRIPT" "%f" "%p"';
  if (identity.switched && log.isOurs === true) await giveFolder(log.folder, identity);
  // An archive has one life of a database, which is one timeline.
  settings["recovery_target_timeline"] = "current";
  return {
    settings,
    environment: {
      WAYBILL_WAL_SCRIPT: await placeScript(layout, log.script, "wal-restore.sh"),
      WAYBILL_WAL_FOLDER: log.folder,
    },
  };
}
