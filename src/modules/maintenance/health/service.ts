import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

import { spoolsOf } from "../../../config-wal.ts";
import { findQuarantine } from "../../../db/restore-state.ts";
import { findSecretKey } from "../../../db/secret-key.ts";
import { isConnectionFailure } from "../../../db/sqlstate.ts";
import {
  type Finding,
  judgeBackups,
  judgeClock,
  judgeDatabaseVersion,
  judgeDeliveries,
  judgeDisk,
  judgeLatency,
  judgeMigrations,
  judgePool,
  judgeQuarantine,
  judgeReplica,
  judgeSecretKey,
  pendingMigrations,
  type PoolUse,
} from "../../../domain/health.ts";
import { readDisk } from "../../../lib/disk.ts";
import { isDiskFull } from "../../../lib/shortage.ts";
import type { Deps } from "../../kernel/deps.ts";
import { countWaitingDeliveries } from "../../notices/notifications/waiting-service.ts";
import { readBackupAge } from "../backups/overview-service.ts";
import { listLeftWal, sayLeftWal } from "../wal/left-service.ts";
import { walHealth } from "../wal/state-service.ts";
import { askNothing, listAppliedMigrations, readDatabaseClock, readDatabaseVersion } from "./store.ts";

async function lookAtLatency({ db }: Deps): Promise<Finding> {
  const began = performance.now();
  await askNothing(db);
  return judgeLatency(performance.now() - began);
}

/** Reads how many connections of the pool are taken, and who waits for one. */
export function readPoolUse({ db: { pool } }: Pick<Deps, "db">): PoolUse {
  return {
    max: pool.options.max,
    used: pool.totalCount - pool.idleCount,
    // Whoever finds an idle one is handed it a moment later, and counts as waiting until then.
    waiting: Math.max(0, pool.waitingCount - pool.idleCount),
  };
}

async function lookAtReplica({ replica }: Deps): Promise<Finding> {
  if (replica === undefined) return { status: "ok", detail: "none is set up" };
  return judgeReplica(await replica.state(), replica.lag());
}

/** Looks at which of some migrations the database has. */
export async function lookAtMigrations({ db }: Pick<Deps, "db">, known: readonly string[]): Promise<Finding> {
  return judgeMigrations(known, await listAppliedMigrations(db));
}

/** Counts those of some migrations that the database does not have. */
export async function countPendingMigrations(
  { db }: Pick<Deps, "db">,
  known: readonly string[],
): Promise<number> {
  return pendingMigrations(known, await listAppliedMigrations(db)).length;
}

/** Looks at what is free on the disk of a folder. */
export async function lookAtDisk(folder: string): Promise<Finding> {
  const { free, size } = await readDisk(folder);
  return judgeDisk(free, size);
}

/** Writes evidence that nobody refers to, reads it back and removes it. */
export async function lookAtEvidence({ evidence, log }: Pick<Deps, "evidence" | "log">): Promise<Finding> {
  // Random, so that it is nobody else's content that is removed.
  const content = Buffer.concat([Buffer.from("waybill health check "), randomBytes(64)]);
  const staged = await evidence.stage(Readable.from([content]), { maxBytes: content.length }).catch((err) => {
    if (isDiskFull(err)) return undefined;
    throw err;
  });
  if (staged === undefined) return { status: "failing", detail: "the disk of the evidence is full" };
  try {
    await staged.keep();
    const read = await buffer(await evidence.open(staged.sha256));
    if (!read.equals(content)) return { status: "failing", detail: "what was written is not what was read" };
    return { status: "ok", detail: "written, read and removed" };
  } finally {
    await staged.discard();
    // What stays is removed by the daily removal of orphans.
    await evidence
      .remove(staged.sha256)
      .catch((err: unknown) => log.warn({ err }, "a health check left a file"));
  }
}

async function lookAtClock({ db, time }: Deps): Promise<Finding> {
  const asked = Date.now();
  const database = await readDatabaseClock(db);
  const answered = Date.now();
  return judgeClock((asked + answered) / 2000 - database, time.refused);
}

/** Looks at how old the last backup is. */
async function lookAtBackups(deps: Deps): Promise<Finding> {
  const { age, isScheduled, isOverdue } = await readBackupAge(deps);
  return judgeBackups(age, isScheduled, isOverdue);
}

/** What costs a request to a bucket is not tried more often, in milliseconds. */
const evidenceGoodForMs = 15_000;

/** Says that the database does not answer, where that is why a check failed. */
function ofDatabase(look: () => Promise<Finding>): () => Promise<Finding> {
  return async () => {
    try {
      return await look();
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      return { status: "failing", detail: "the database is not available" };
    }
  };
}

/** A warning is for those who read it: nothing is lost yet, and archives are away for a while now and then. */
async function lookAtWalArchive(deps: Deps): Promise<Finding> {
  const { status, detail } = (await walHealth(deps)) ?? { status: "ok", detail: "none is set up" };
  const left = sayLeftWal(await listLeftWal(deps.config));
  if (left !== undefined)
    return { status: "degraded", detail: status === "ok" ? left : `${detail}; ${left}` };
  return { status: status === "warning" ? "ok" : status, detail };
}

/**
 * Registers what is checked when somebody asks how the instance stands. Once for a program.
 * @param migrations names of the program's own.
 */
export function watchHealth(deps: Deps, migrations: readonly string[]): void {
  const { health, db, config } = deps;
  // First: before the other checks take connections themselves.
  health.add("pool", () => judgePool(readPoolUse(deps)));
  health.add(
    "database",
    ofDatabase(() => lookAtLatency(deps)),
  );
  health.add(
    "database_version",
    ofDatabase(async () => {
      const { version, number } = await readDatabaseVersion(db);
      return judgeDatabaseVersion(version, number);
    }),
  );
  health.add("replica", () => lookAtReplica(deps));
  health.add(
    "migrations",
    ofDatabase(() => lookAtMigrations(deps, migrations)),
  );
  health.add(
    "deliveries",
    ofDatabase(async () => judgeDeliveries(await countWaitingDeliveries(deps))),
  );
  health.add("data_disk", () => lookAtDisk(config.dataDir));
  health.add("evidence_disk", () => lookAtDisk(config.evidence.dir));
  health.add("evidence", () => lookAtEvidence(deps), { goodForMs: evidenceGoodForMs });
  health.add(
    "secret_key",
    ofDatabase(async () => judgeSecretKey(await findSecretKey(db), deps.secrets.fingerprint)),
  );
  health.add(
    "clock",
    ofDatabase(() => lookAtClock(deps)),
  );
  health.add(
    "backups",
    ofDatabase(() => lookAtBackups(deps)),
  );
  if (config.wal !== undefined || existsSync(spoolsOf(config.dataDir)))
    health.add(
      "wal_archive",
      ofDatabase(() => lookAtWalArchive(deps)),
    );
  health.add(
    "quarantine",
    ofDatabase(async () => judgeQuarantine(await findQuarantine(db))),
  );
}
