import { randomBytes, randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { migrationsFolder, prepareDatabase } from "../../src/open-database.ts";
import { readConfig, walScripts } from "../../src/config.ts";
import { connect, type Database } from "../../src/db/connect.ts";
import {
  findWalArchive,
  type ManagedPostgres,
  startManagedPostgres,
  type WalArchive,
} from "../../src/db/managed/index.ts";
import { readMigrations } from "../../src/db/migrate.ts";
import { createEvidenceStore } from "../../src/evidence/create.ts";
import { createFileStore } from "../../src/evidence/files.ts";
import { createLogger, silentLog } from "../../src/lib/log.ts";
import { createMetrics } from "../../src/modules/kernel/metrics.ts";
import { lookAtBackup } from "../../src/modules/maintenance/backups/folder-service.ts";
import { restorePhysicalBackup } from "../../src/modules/maintenance/backups/physical-restore-service.ts";
import { listBases, pruneArchive } from "../../src/modules/maintenance/wal/archive-service.ts";
import { copyEvidence } from "../../src/modules/maintenance/wal/evidence-service.ts";
import { openArchivedWal } from "../../src/modules/maintenance/wal/restore-service.ts";
import { keepWalArchive, makeDueBase } from "../../src/modules/maintenance/wal/keep-service.ts";
import {
  judgeWal,
  readWalState,
  showWalArchive,
  walHealth,
} from "../../src/modules/maintenance/wal/state-service.ts";
import { mistakesOf } from "../support/config.ts";
import { folderPlace, openFile } from "../../src/modules/maintenance/backups/place-service.ts";

let folder: string;
let managed: ManagedPostgres;
let db: Database;
let archive: WalArchive;
const megabytes64 = 64 * 1024 * 1024;

function makeDeps() {
  const config = readConfig({
    WAYBILL_DATA_DIR: join(folder, "data"),
    WAYBILL_WAL_TO: join(folder, "archive"),
    WAYBILL_MAX_WAL_ARCHIVE_BYTES: String(megabytes64),
  });
  return { config, db, evidence: createEvidenceStore(config.evidence), log: createLogger("silent") };
}
let deps: ReturnType<typeof makeDeps>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-wal-"));
  // PostgreSQL runs as another user when the tests are root's.
  await chmod(folder, 0o755);
  managed = await startManagedPostgres({
    dataDir: join(folder, "data"),
    log: silentLog,
    settings: { fsync: "off" },
    walArchive: { folder: join(folder, "archive"), script: walScripts.archive },
  });
  db = connect({ connection: managed.connection, max: 4 });
  await prepareDatabase(db, silentLog);
  archive = (await findWalArchive(join(folder, "data")))!;
  deps = makeDeps();
}, 120_000);
afterAll(async () => {
  await db.close();
  await managed.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Writes something, and ends the file of the log that it went to. */
async function write(): Promise<void> {
  await db.pool.query(
    "insert into organizations (id, name, kind, created_at, last_modified_at) values ($1, $2, 'shared', now(), now())",
    [randomUUID(), `org-${randomUUID()}`],
  );
  await db.pool.query("select pg_switch_wal()");
}

const waiting = async (): Promise<number> => (await readWalState(deps))!.waiting_bytes;

/** Does what is done every minute. @returns whether a backup was asked for. */
async function keep(): Promise<boolean> {
  let asked = false;
  await keepWalArchive(deps, async () => void (asked = true));
  return asked;
}

const places = () => ({ wal: folderPlace(archive.wal), base: folderPlace(archive.base) });

function restoreAt(file: string, seconds: number) {
  const dataDir = join(folder, "copy");
  const text = new Date(seconds * 1000).toISOString().replace("Z", "+00:00");
  return lookAtBackup(openFile(file, undefined)).then(async (found) =>
    restorePhysicalBackup({
      found,
      open: () => createReadStream(file),
      openOther: async () => undefined,
      dataDir,
      evidence: { dir: join(dataDir, "evidence"), maxBytes: 1, s3: undefined },
      migrations: await readMigrations(migrationsFolder),
      finish: (restored) => prepareDatabase(restored, silentLog),
      beyond: {
        until: { seconds, text },
        wal: (await openArchivedWal(folderPlace(archive.wal), {
          script: walScripts.restore,
          identities: async () => [],
        }))!,
      },
      archivedEvidence: undefined,
      replace: false,
      quarantine: true,
      quick: false,
      report: () => {},
    }),
  );
}

describe("an archive of the write-ahead log", { timeout: 240_000 }, () => {
  it("keeps nothing of a physical backup that is given up, and PostgreSQL sends no more of it", async () => {
    const ballast = join(folder, "data", "postgres", "ballast");
    await writeFile(ballast, randomBytes(megabytes64));
    const stopping = new AbortController();
    const making = makeDueBase(deps, "1", stopping.signal);
    making.catch(() => {});
    const files = (): Promise<string[]> => readdir(archive.base);
    await expect.poll(files, { timeout: 60_000, interval: 5 }).toEqual([expect.stringMatching(/\.partial$/)]);
    const begun = performance.now();
    stopping.abort(new Error("The server stops"));
    await expect(making).rejects.toThrow("The server stops");
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(await files()).toEqual([]);
    const senders = async (): Promise<number | null> =>
      (await db.pool.query("select from pg_stat_replication")).rowCount;
    await expect.poll(senders, { timeout: 30_000 }).toBe(0);
    await rm(ballast);
  });

  it("gets a physical backup when it has none, and one only", async () => {
    expect(await keep()).toBe(true);
    await makeDueBase(deps, "1");
    await makeDueBase(deps, "1");
    expect(await listBases(folderPlace(archive.base))).toMatchObject([
      { found: { head: { life: archive.life } } },
    ]);
    expect(await keep()).toBe(false);
    expect(await walHealth(deps)).toMatchObject({ status: "ok" });
  });

  it("that is away for too long is given up, and begins again with a backup beyond the gap", async () => {
    const [first] = await listBases(folderPlace(archive.base));
    await write();
    await expect.poll(waiting, { timeout: 60_000 }).toBe(0);
    await rename(archive.wal, `${archive.wal}-away`);
    const lost = Date.now() / 1000;
    for (let count = 0; count < 5; count += 1) await write();
    await expect.poll(async () => (await readWalState(deps))!.isFailing, { timeout: 60_000 }).toBe(true);
    expect(await waiting()).toBeGreaterThanOrEqual(megabytes64);
    await keep();
    expect(await walHealth(deps)).toMatchObject({ status: "degraded" });
    // Reports go on, and the disk does not fill.
    await write();
    await expect.poll(waiting, { timeout: 90_000 }).toBe(0);
    expect(await keep()).toBe(false);
    const during = Date.now() / 1000;
    await delay(1_100);

    await rename(`${archive.wal}-away`, archive.wal);
    // What a crash has left of an earlier note.
    await writeFile(join(archive.root, "gaps.jsonl"), '{"from":17');
    expect(await keep()).toBe(true);
    await makeDueBase(deps, "1");
    const bases = await listBases(folderPlace(archive.base));
    expect(bases).toHaveLength(2);
    expect(await keep()).toBe(false);
    expect(await walHealth(deps)).toMatchObject({ status: "ok" });
    await expect(restoreAt(first!.found.path, during)).rejects.toThrow("has a gap from");
    await expect(restoreAt(bases[1]!.found.path, during)).rejects.toThrow(
      "cannot be restored to an earlier moment",
    );
    expect(existsSync(join(folder, "copy", "postgres"))).toBe(false);
    expect(bases[1]!.finished_at).toBeGreaterThan(lost);

    await write();
    const at = Date.now() / 1000;
    await delay(50);
    await write();
    await expect.poll(waiting, { timeout: 60_000 }).toBe(0);
    expect((await restoreAt(bases[1]!.found.path, at)).last_change).toBeDefined();
  });

  it("loses what no moment within reach needs", async () => {
    const before = await readdir(archive.wal);
    expect(await pruneArchive(places(), 0)).toBe(0);
    expect(await pruneArchive(places(), Date.now() / 1000)).toBeGreaterThan(1);
    const bases = await listBases(folderPlace(archive.base));
    expect(bases).toHaveLength(1);
    const left = await readdir(archive.wal);
    expect(left.length).toBeLessThan(before.length);
    expect(left.filter((name) => /^[0-9A-F]{24}\.gz$/.test(name)).length).toBeGreaterThan(0);
  });

  it("gets evidence as soon as it is kept, and what was kept before", async () => {
    const put = async (to: typeof deps.evidence, text: string): Promise<string> => {
      const staged = await to.stage(Readable.from([Buffer.from(text)]), { maxBytes: 1_000 });
      await staged.keep();
      return staged.sha256;
    };
    const early = await put(deps.evidence, "kept before");
    const { rows } = await db.pool.query<{ id: string }>("select id from organizations limit 1");
    await db.pool.query(
      "insert into evidence (org_id, id, sha256, size, filename, content_type, created_at) values ($1, $2, $3, 11, 'f', 'text/plain', now())",
      [rows[0]!.id, randomUUID(), early],
    );
    const copied = copyEvidence(deps);
    const late = await put(copied.evidence, "kept now");
    const there = createFileStore(archive.evidence);
    for (const sha256 of [early, late]) await expect.poll(() => there.has(sha256)).toBe(true);
    await copied.stop();
  });

  it("is shown in figures", async () => {
    const metrics = { ...createMetrics(), registry: new Registry() };
    showWalArchive({ ...deps, metrics });
    const text = await metrics.registry.metrics();
    expect(text).toMatch(/^waybill_wal_archive_last_success_timestamp_seconds 1\d{9}/m);
    expect(text).toMatch(/^waybill_wal_archive_failing [01]$/m);
  });
});

it("says how an archive is by what waits for it", () => {
  const state = { isOff: false, isFailing: false, last_success: 1, most_bytes: 16 * 2 ** 30 };
  const judged = (waiting_bytes: number, more = {}): string =>
    judgeWal({ ...state, waiting_bytes, ...more }).status;
  expect(judgeWal({ ...state, waiting_bytes: 1.5 * 2 ** 30 }).detail).toBe(
    "1.5 GiB of WAL wait for the archive",
  );
  expect([0, 2 ** 30, 4 * 2 ** 30].map((bytes) => judged(bytes))).toEqual(["ok", "warning", "degraded"]);
  expect(judged(0, { isFailing: true })).toBe("warning");
  expect(judged(0, { isOff: true, isFailing: true })).toBe("degraded");
});

it("is configured for the managed PostgreSQL, as a folder or a bucket", () => {
  expect(mistakesOf({ WAYBILL_WAL_TO: "/mnt/wal" })).toEqual([]);
  expect(mistakesOf({ WAYBILL_WAL_TO: "s3://bucket/wal" })).toEqual([
    "WAYBILL_BACKUP_S3_ACCESS_KEY must be set, because WAYBILL_WAL_TO is in a bucket",
  ]);
  expect(mistakesOf({ WAYBILL_WAL_TO: "ftp://host/wal" })[0]).toContain("must be a folder, or s3://");
  expect(mistakesOf({ WAYBILL_WAL_TO: "/mnt/wal", DATABASE_URL: "postgres://x/y" })[0]).toContain(
    "runs itself",
  );
  expect(mistakesOf({ WAYBILL_WAL_KEEP_DAYS: "3" })[0]).toContain("WAYBILL_WAL_TO must be set");
});
