import { spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { createDeps } from "../../src/app.ts";
import { compareAnswers } from "../../src/cli/drill-answers.ts";
import type { Database } from "../../src/db/connect.ts";
import { type ManagedPostgres, startManagedPostgres } from "../../src/db/managed/index.ts";
import { createLogger, silentLog } from "../../src/lib/log.ts";
import type { Deps } from "../../src/modules/kernel/deps.ts";
import { openFileSink } from "../../src/modules/maintenance/backups/file-sink.ts";
import { readBackup } from "../../src/modules/maintenance/backups/read-service.ts";
import { writeBackup } from "../../src/modules/maintenance/backups/write-service.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attestPassed } from "../support/attestations.ts";
import { keepEvidence } from "../support/evidence.ts";
import { makeBackup, type RestoreTarget, restoreTarget } from "../support/restoring.ts";

/** Folders with the bin, lib and share of a PostgreSQL; that of 15 where Debian and its kin put it, unless others are named. */
const engines = (process.env["WAYBILL_TEST_ENGINES"] ?? "/usr/lib/postgresql/15")
  .split(":")
  .filter((native) => existsSync(join(native, "bin", "postgres")))
  .map((native) => {
    const { stdout } = spawnSync(join(native, "bin", "postgres"), ["--version"], { encoding: "utf8" });
    return { native, version: /PostgreSQL\) ([\d.]+)/.exec(stdout)?.[1] ?? "" };
  });
type Engine = (typeof engines)[number];
if (engines.length === 0)
  console.log("Not tried: backups across major versions of PostgreSQL, for want of another one.");

/** Who restores and backs up there, by what may be done; the suite tries the one that has less. */
const plain: [string, string | undefined] = ["a role that owns the database and nothing else", "plain"];
const isThorough = process.env["WAYBILL_TEST_ENGINES"] !== undefined;
const roles = isThorough ? [plain, ["a superuser", undefined] as [string, undefined]] : [plain];

let app: TestApp;
let folder: string;
let backup: string;

beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  const org = await app.org();
  folder = await mkdtemp(join(tmpdir(), "waybill-engines-"));
  // PostgreSQL runs as another user when the tests are root's.
  await chmod(folder, 0o755);
  for (const trail of ["one", "two"]) await attestPassed(org, trail, "unit");
  for (const name of ["one", "two"]) {
    const body = artifactBody({ fingerprint: fingerprintOf(name), filename: name, trail_name: "one" });
    const { status, text } = await org.member.post(`/artifacts/${org.name}/web`, body);
    if (status !== 201) throw new Error(text);
  }
  await keepEvidence(app, org, randomBytes(5_000));
  backup = await makeBackup(app, join(folder, "source.tar"));
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

/**
 * What is not the same after a restore: a database into which one was restored knows where its evidence is, as none does that had no server
 * yet; and the backup that was being made is none that was.
 */
const ownTables: ReadonlySet<string> = new Set(["public.instance_settings", "public.backup_runs"]);

/** What the manifest of a backup says of the rows of each table. */
async function tablesIn(path: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  await readBackup(createReadStream(path), {
    line: async (line) => {
      if (line.kind === "table" && !ownTables.has(line.table))
        found[line.table] = `${line.rows} ${line.sha256}`;
    },
  });
  return found;
}

/** What commands stand on, over a database that a test has opened. */
function depsOver(db: Database): Deps {
  const { clock, config } = app.deps;
  return createDeps(config, db, { log: createLogger("silent"), clock });
}

/** Restores a backup, compares answers with those of the source, and makes another backup of what came of it. */
async function passOn(file: string, target: RestoreTarget, source: Deps = app.deps): Promise<string> {
  const { warnings } = await target.restore(file);
  expect(warnings).toEqual([]);
  const next = join(folder, `${randomUUID()}.tar`);
  await target.opened(async (db) => {
    const { compared, differences } = await compareAnswers(source, depsOver(db));
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(5);
    const sink = await openFileSink(next);
    await writeBackup({ db, evidence: target.evidence }, sink, {
      id: randomUUID(),
      program: "1",
      evidence: "full",
    });
    await sink.finish();
  });
  return next;
}

const dataDirOf = ({ version }: Engine): string => join(folder, version);

/** Starts another PostgreSQL. */
function startEngine(engine: Engine): Promise<ManagedPostgres> {
  const settings = { fsync: "off" };
  return startManagedPostgres({ dataDir: dataDirOf(engine), log: silentLog, engine, settings });
}

describe.each(engines)("a database on PostgreSQL $version", { timeout: 120_000 }, (engine) => {
  let managed: ManagedPostgres;
  beforeAll(async () => {
    managed = await startEngine(engine);
  }, 60_000);
  afterAll(() => managed.stop());

  it.each(roles)("takes a backup from the managed one and gives it back, for %s", async (_who, owner) => {
    const there = await restoreTarget(folder, {
      server: managed.connection,
      ...(owner !== undefined && { owner }),
    });
    onTestFinished(there.remove);
    const outward = await passOn(backup, there);
    await there.opened(async (db) => {
      const { rows } = await db.pool.query<{ version: string; superuser: boolean; silent: number }>(
        `select current_setting('server_version') as version,
           (select rolsuper from pg_roles where rolname = current_user) as superuser,
           (select count(*)::int from pg_trigger where not tgisinternal and tgenabled <> 'O') as silent`,
      );
      expect(rows).toEqual([
        { version: expect.stringContaining(engine.version), superuser: owner === undefined, silent: 0 },
      ]);
    });
    const back = await restoreTarget(folder);
    onTestFinished(back.remove);
    const homeward = await passOn(outward, back);
    const source = await tablesIn(backup);
    expect(await tablesIn(outward)).toEqual(source);
    expect(await tablesIn(homeward)).toEqual(source);
  });
});

/** A backup of a database of any size, made by this version of the program. */
const large = process.env["WAYBILL_TEST_ENGINES_BACKUP"];

describe.skipIf(large === undefined)(
  "a large database (WAYBILL_TEST_ENGINES_BACKUP is a backup of one)",
  () => {
    it(
      "is the same after each of the other engines, for a role that owns it and nothing else, and on the managed one again",
      { timeout: 6 * 3_600_000 },
      async () => {
        const source = await restoreTarget(folder);
        onTestFinished(source.remove);
        await source.restore(large!);
        const expected = await tablesIn(large!);
        await source.opened(async (db) => {
          let file = large!;
          /** Sends the latest backup through a database, and goes on with what comes of it. */
          const through = async (target: RestoreTarget): Promise<void> => {
            try {
              const next = await passOn(file, target, depsOver(db));
              expect(await tablesIn(next)).toEqual(expected);
              if (file !== large) await rm(file);
              file = next;
            } finally {
              await target.remove();
            }
          };
          for (const engine of engines) {
            const managed = await startEngine(engine);
            try {
              await through(await restoreTarget(folder, { server: managed.connection, owner: "plain" }));
            } finally {
              await managed.stop();
              await rm(dataDirOf(engine), { recursive: true });
            }
            console.log(`Passed on by PostgreSQL ${engine.version}`);
          }
          await through(await restoreTarget(folder));
        });
      },
    );
  },
);
