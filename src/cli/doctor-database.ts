import { existsSync } from "node:fs";
import { join } from "node:path";

import { type Config, loadSecretKey } from "../config.ts";
import { isDistributed } from "../db/citus/distribute.ts";
import type { Database } from "../db/connect.ts";
import { findQuarantine } from "../db/restore-state.ts";
import { findSecretKey } from "../db/secret-key.ts";
import {
  type Diagnosis,
  judgeArchiver,
  judgeBackupAge,
  judgeConnections,
  judgeDeadRows,
  judgeDensity,
  judgeDrillAge,
  judgeEndingKeys,
  judgeEternalKeys,
  judgeFirstKey,
  judgeIndexes,
  judgeStatistics,
  judgeUnusedKeys,
  warning,
  withRemedy,
} from "../domain/doctor.ts";
import {
  judgeClock,
  judgeDatabaseVersion,
  judgeJobs,
  judgeQuarantine,
  judgeSecretKey,
} from "../domain/health.ts";
import { countOverdue, countStopped } from "../jobs/stopped-store.ts";
import { createSecretBox, type SecretBox } from "../lib/secret-box.ts";
import { firstKeyDescription } from "../modules/identity/bootstrap/service.ts";
import { listLastSuccesses } from "../modules/maintenance/backups/overview-service.ts";
import {
  countDoubtfulKeys,
  listGapsAtEnd,
  listInvalidIndexes,
  listTableStates,
  readArchiverState,
  readConnectionUse,
} from "../modules/maintenance/health/doctor-store.ts";
import { lookAtMigrations } from "../modules/maintenance/health/service.ts";
import { readDatabaseClock, readDatabaseVersion } from "../modules/maintenance/health/store.ts";
import { walHealth } from "../modules/maintenance/wal/state-service.ts";
import { migrationNames } from "../open-database.ts";
import type { DoctorCheck } from "./doctor-checks.ts";
import { serverChecks } from "./doctor-server.ts";
import { initialKeyFile } from "./first-start.ts";

/** Connections of a server beside its pool: one by which others see that it is there, and one that owns its PostgreSQL or follows a lost one. */
const besidePool = 2;

/** Gives what this installation seals with; undefined when no key was made yet. Makes none. */
export function ownSecrets(config: Config): SecretBox | undefined {
  if (config.secretKey === undefined && !existsSync(join(config.dataDir, "secret-key"))) return undefined;
  return createSecretBox(loadSecretKey(config));
}

/** Looks how long ago the last success of a kind was. @returns undefined on Citus, whose nodes are backed up by other means. */
async function lookAtRuns(
  db: Database,
  kind: "backup" | "restore_drill",
  judge: (age: number | undefined) => Diagnosis,
): Promise<Diagnosis | undefined> {
  return (await isDistributed(db.pool)) ? undefined : judge(await ageOf(db, kind));
}

/** How many seconds ago the last success of a kind was; undefined without any. */
async function ageOf(db: Database, kind: "backup" | "restore_drill"): Promise<number | undefined> {
  const [successes, now] = await Promise.all([listLastSuccesses(db), readDatabaseClock(db)]);
  const endedAt = successes.find((each) => each.kind === kind)?.ended_at;
  return endedAt == null ? undefined : now - endedAt;
}

const jobsRemedy =
  "See `waybill admin jobs list`, then retry or drop each; jobs that are only overdue need a server with the role jobs";

const archiveRemedy = "See the log of the server, and whether the archive answers and has room";

function upkeepChecks(db: Database, config: Config): DoctorCheck[] {
  return [
    { group: "database", name: "indexes", look: async () => judgeIndexes(await listInvalidIndexes(db)) },
    { group: "database", name: "statistics", look: async () => judgeStatistics(await listTableStates(db)) },
    { group: "database", name: "dead_rows", look: async () => judgeDeadRows(await listTableStates(db)) },
    {
      group: "database",
      name: "audit_log",
      look: async () => judgeDensity("entries of the audit log", await listGapsAtEnd(db, "audit_log")),
    },
    {
      group: "database",
      name: "builds",
      look: async () => judgeDensity("numbers of builds", await listGapsAtEnd(db, "builds")),
    },
    {
      group: "database",
      name: "connections",
      look: async () => judgeConnections(await readConnectionUse(db), config.databasePoolSize + besidePool),
    },
    {
      group: "database",
      name: "jobs",
      look: async () => {
        const [stopped, overdue] = await Promise.all([countStopped(db), countOverdue(db)]);
        return withRemedy(judgeJobs({ ...stopped, overdue }), jobsRemedy);
      },
    },
    {
      group: "backups",
      name: "wal_archive",
      look: async () => {
        const archiver = judgeArchiver(await readArchiverState(db));
        const found = archiver.status === "ok" ? await walHealth({ db, config }) : undefined;
        return found === undefined || found.status === "ok" ? archiver : warning(found.detail, archiveRemedy);
      },
    },
  ];
}

function keyChecks(db: Database, config: Config): DoctorCheck[] {
  const count = () => countDoubtfulKeys(db, Date.now() / 1000, firstKeyDescription);
  const file = initialKeyFile(config.dataDir);
  return [
    {
      group: "keys",
      name: "secret_key",
      look: async () => {
        const [noted, own] = [await findSecretKey(db), ownSecrets(config)?.fingerprint];
        if (noted === undefined) return undefined;
        const remedy =
          "Set WAYBILL_SECRET_KEY, or the file secret-key in the data directory, to the key the servers use";
        return withRemedy(judgeSecretKey(noted, own ?? ""), remedy);
      },
    },
    {
      group: "keys",
      name: "first_key",
      look: async () => judgeFirstKey(await count(), existsSync(file) ? file : undefined),
    },
    { group: "keys", name: "eternal_keys", look: async () => judgeEternalKeys(await count()) },
    { group: "keys", name: "ending_keys", look: async () => judgeEndingKeys(await count()) },
    { group: "keys", name: "unused_keys", look: async () => judgeUnusedKeys(await count()) },
  ];
}

/** Lists what is looked at in the database, whether a server runs on it or not. Changes nothing. */
export function databaseChecks(db: Database, config: Config): DoctorCheck[] {
  return [
    {
      group: "database",
      name: "version",
      look: async () => {
        const { version, number } = await readDatabaseVersion(db);
        return withRemedy(judgeDatabaseVersion(version, number), "Move the database to a newer PostgreSQL");
      },
    },
    {
      group: "database",
      name: "migrations",
      look: async () =>
        withRemedy(
          await lookAtMigrations({ db }, migrationNames()),
          "Start the server of the newest version in use, which applies them; see `waybill upgrade --check` before",
        ),
    },
    {
      group: "database",
      name: "clock",
      look: async () => {
        const asked = Date.now();
        const database = await readDatabaseClock(db);
        const ahead = (asked + Date.now()) / 2000 - database;
        return withRemedy(judgeClock(ahead, undefined), "Let NTP set the clocks of both machines");
      },
    },
    {
      group: "database",
      name: "quarantine",
      look: async () =>
        withRemedy(
          judgeQuarantine(await findQuarantine(db)),
          "When this copy takes the place of the original: `waybill admin release-quarantine`",
        ),
    },
    ...upkeepChecks(db, config),
    ...serverChecks(db, config),
    ...keyChecks(db, config),
    { group: "backups", name: "backup", look: () => lookAtRuns(db, "backup", judgeBackupAge) },
    { group: "backups", name: "drill", look: () => lookAtRuns(db, "restore_drill", judgeDrillAge) },
  ];
}
