import type { InstanceBackups } from "../../../contract/backups.ts";
import { type Cron, nextTime } from "../../../lib/cron.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type BackupRunRow, findLastBackup, listLastSuccesses, listRuns } from "./runs-store.ts";

export { listLastSuccesses };
export type LastSuccess = BackupRunRow;

const shownRuns = 100;

function scheduled(cron: Cron | undefined, now: number): InstanceBackups["backup"] {
  return cron === undefined ? null : { cron: cron.text, next_at: nextTime(cron, now) };
}

/** Tells what was done about backups, and what comes next by the settings of this server. */
export async function readBackups({
  db,
  clock,
  config,
}: Pick<Deps, "db" | "clock" | "config">): Promise<InstanceBackups> {
  const { to, at, drillAt, keep } = config.backups;
  const [runs, successes] = await Promise.all([listRuns(db, shownRuns), listLastSuccesses(db)]);
  const now = clock.now();
  return {
    to: to ?? null,
    keep: keep?.text ?? null,
    backup: scheduled(to === undefined ? undefined : at, now),
    restore_drill: scheduled(to === undefined ? undefined : drillAt, now),
    last_backup: successes.find(({ kind }) => kind === "backup") ?? null,
    last_restore_drill: successes.find(({ kind }) => kind === "restore_drill") ?? null,
    runs,
  };
}

/** How long after its time a backup may be done, in seconds. */
const patience = 2 * 3_600;

/**
 * Tells how old the last backup is, in seconds (undefined without any), whether this server makes some by itself, and whether one that
 * should have been made since was not.
 */
export async function readBackupAge({ db, config }: Pick<Deps, "db" | "config">): Promise<{
  age: number | undefined;
  isScheduled: boolean;
  isOverdue: boolean;
}> {
  const { to, at } = config.backups;
  const last = await findLastBackup(db);
  const isScheduled = to !== undefined;
  if (last === undefined) return { age: undefined, isScheduled, isOverdue: isScheduled };
  const { ended_at, now } = last;
  const isOverdue = isScheduled && nextTime(at, ended_at) + patience < now;
  return { age: now - ended_at, isScheduled, isOverdue };
}
