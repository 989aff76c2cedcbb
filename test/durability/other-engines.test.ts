import { spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { createDeps } from "../../src/app.ts";
import { compareAnswers } from "../../src/cli/drill-answers.ts";
import { type ManagedPostgres, startManagedPostgres } from "../../src/db/managed/index.ts";
import { createLogger, silentLog } from "../../src/lib/log.ts";
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

/** What the manifest of a backup says of the rows of each table. */
async function tablesIn(path: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  await readBackup(createReadStream(path), {
    line: async (line) => {
      // A database into which one was restored knows where its evidence is, as none does that had no server yet.
      if (line.kind === "table" && line.table !== "public.instance_settings")
        found[line.table] = `${line.rows} ${line.sha256}`;
    },
  });
  return found;
}

/** Restores a backup, compares answers with those of the source, and makes another backup of what came of it. */
async function passOn(file: string, target: RestoreTarget): Promise<string> {
  const { warnings } = await target.restore(file);
  expect(warnings).toEqual([]);
  const next = join(folder, `${randomUUID()}.tar`);
  await target.opened(async (db) => {
    const { clock, config } = app.deps;
    const deps = createDeps(config, db, { log: createLogger("silent"), clock });
    const { compared, differences } = await compareAnswers(app.deps, deps);
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

describe.each(engines)("a database on PostgreSQL $version", { timeout: 120_000 }, (engine) => {
  let managed: ManagedPostgres;
  beforeAll(async () => {
    const dataDir = join(folder, engine.version);
    managed = await startManagedPostgres({ dataDir, log: silentLog, engine, settings: { fsync: "off" } });
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
