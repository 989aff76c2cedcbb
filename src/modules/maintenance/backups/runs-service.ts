import { openDedicated } from "../../../db/dedicated.ts";
import { lockName } from "../../../db/lock.ts";
import { isDatabaseFull } from "../../../db/sqlstate.ts";
import { transaction } from "../../../db/transaction.ts";
import type { BackupRunEnd, BackupRunKind } from "../../../domain/backup-runs.ts";
import { invalid } from "../../../domain/errors.ts";
import type { Actor } from "../../../domain/principal.ts";
import type { Tx } from "../../../db/connect.ts";
import { appendInstanceEntry } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { canRecord, deleteOldRuns, findRunning, holdRun, insertRun, updateRunEnded } from "./runs-store.ts";

/** A run as it begins. */
export interface BeginningRun {
  /** A UUID of its own. */
  id: string;
  kind: BackupRunKind;
  /** Begun by the clock. */
  scheduled: boolean;
  /** Who is said to have begun it, in the log of the instance. */
  actor: Actor;
  /** Whether another one of the kind must not be under way. */
  alone: boolean;
}

const nothing: BackupRunEnd = {
  ok: false,
  file: null,
  bytes: null,
  rows: null,
  evidence_files: null,
  problem: null,
};

const busy: Readonly<Record<BackupRunKind, string>> = {
  backup: "Another backup is being made",
  restore: "Another restore is under way",
  restore_drill: "Another drill is under way",
};

/** Longer texts are those of libraries. */
const longestProblem = 2_000;

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, longestProblem);
}

/** Writes a record if there is room for it: whoever has none left wants a backup all the more. @returns whether there was. */
async function unlessFull(writing: Promise<void>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (isDatabaseFull(error)) return false;
    throw error;
  }
}

type RunDeps = Pick<Deps, "db" | "clock">;

/** Notes in the log of the instance how a run ended; not while the time is in doubt, which keeps nobody from making backups. */
function appendEntry(
  { clock }: RunDeps,
  tx: Tx,
  { kind, actor, scheduled }: BeginningRun,
  end: BackupRunEnd,
): void {
  let now: number;
  try {
    now = clock.now();
  } catch {
    return;
  }
  const { ok, file, bytes, rows, problem } = end;
  appendInstanceEntry({ clock: { now: () => now } }, tx, {
    actor,
    action: kind,
    resource_type: "backup",
    resource: file ?? "none",
    details: { ok, scheduled, bytes, rows, problem },
  });
}

/** Notes a run that has been done already, in the database that it made. @param seconds how long it took. */
export function recordDone(
  deps: RunDeps,
  run: Omit<BeginningRun, "alone">,
  { seconds, ...end }: BackupRunEnd & { seconds: number },
): Promise<void> {
  const whole = { ...run, alone: false };
  return transaction(deps.db, async (tx) => {
    await insertRun(tx, whole, seconds);
    await updateRunEnded(tx, run.id, end);
    appendEntry(deps, tx, whole, end);
  });
}

/**
 * Does what a run is about, and keeps a record of it where that is possible: while it is under way others see that somebody is at it,
 * and afterwards how it ended, also when it fails. Only those whose process is killed have no end.
 * @param work told of what is known before it ends, which a failure is recorded with.
 * @throws AppError validation while another one is under way, if it is to be alone; what the work fails with.
 */
export async function recordRun<T>(
  deps: RunDeps,
  run: BeginningRun,
  work: (note: (known: Partial<BackupRunEnd>) => void) => Promise<T>,
): Promise<T> {
  const { db } = deps;
  let known: Partial<BackupRunEnd> = {};
  const note = (more: Partial<BackupRunEnd>): void => void (known = { ...known, ...more });
  const connection = await openDedicated(db);
  try {
    if (!(await canRecord(connection))) return await work(note);
    const { id } = run;
    await holdRun(connection, id);
    const isRecorded = await unlessFull(
      transaction(db, async (tx) => {
        await lockName(tx, "backup runs");
        if (run.alone && (await findRunning(tx, run.kind)) !== undefined) throw invalid(busy[run.kind]);
        await insertRun(tx, run);
        await deleteOldRuns(tx);
      }),
    );
    if (!isRecorded) return await work(note);
    const end = async (outcome: Partial<BackupRunEnd>): Promise<void> => {
      const whole = { ...nothing, ...known, ...outcome };
      await transaction(db, async (tx) => {
        await updateRunEnded(tx, id, whole);
        appendEntry(deps, tx, run, whole);
      }).catch(() =>
        // A log that cannot be written, as that of a newer version, is no reason to forget what was done.
        transaction(db, (tx) => updateRunEnded(tx, id, whole)),
      );
    };
    let result: T;
    try {
      result = await work(note);
    } catch (error) {
      await end({ ok: false, problem: reasonOf(error) }).catch(() => {});
      throw error;
    }
    await unlessFull(end({ ok: true }));
    return result;
  } finally {
    connection.cut();
  }
}
