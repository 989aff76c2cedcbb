import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { createReadStream, existsSync, statfsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { migrationsFolder, prepareDatabase } from "../../src/open-database.ts";
import { connect, type Database } from "../../src/db/connect.ts";
import { type ManagedPostgres, startManagedPostgres } from "../../src/db/managed/index.ts";
import { readMigrations } from "../../src/db/migrate.ts";
import { findQuarantine } from "../../src/db/restore-state.ts";
import { backupName } from "../../src/domain/backups.ts";
import { createEvidenceStore, type EvidenceSettings } from "../../src/evidence/create.ts";
import { silentLog } from "../../src/lib/log.ts";
import { isDiskFull } from "../../src/lib/shortage.ts";
import { DamagedArchive } from "../../src/lib/tar-reader.ts";
import { openFileSink } from "../../src/modules/maintenance/backups/file-sink.ts";
import { listBackups, lookAtBackup } from "../../src/modules/maintenance/backups/folder-service.ts";
import {
  type PhysicallyRestored,
  restorePhysicalBackup,
} from "../../src/modules/maintenance/backups/physical-restore-service.ts";
import { writePhysicalBackup } from "../../src/modules/maintenance/backups/physical-service.ts";
import { readBackup } from "../../src/modules/maintenance/backups/read-service.ts";
import { withOneByteChanged } from "../support/damage.ts";
import { folderPlace, openFile } from "../../src/modules/maintenance/backups/place-service.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { amount } from "../support/thorough.ts";

let folder: string;
let managed: ManagedPostgres;
let db: Database;
let evidence: EvidenceSettings;
let backup: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-physical-"));
  // PostgreSQL runs as another user when the tests are root's.
  await chmod(folder, 0o755);
  managed = await startManagedPostgres({
    dataDir: join(folder, "data"),
    log: silentLog,
    settings: { fsync: "off" },
  });
  db = connect({ connection: managed.connection, max: 4 });
  await prepareDatabase(db, silentLog);
  evidence = { dir: join(folder, "evidence"), maxBytes: 1_000_000, s3: undefined };
  await addEvidence(Buffer.from("seen by all"));
  backup = await make();
}, 120_000);
afterAll(async () => {
  await db.close();
  await managed.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Stores a file, and the row that names it. */
async function addEvidence(content: Buffer): Promise<string> {
  const staged = await createEvidenceStore(evidence).stage(Readable.from([content]), { maxBytes: 1_000_000 });
  await staged.keep();
  const org = randomUUID();
  await db.pool.query(
    "insert into organizations (id, name, kind, created_at, last_modified_at) values ($1, $2, 'shared', now(), now())",
    [org, `org-${org}`],
  );
  await db.pool.query("insert into org_counters (org_id) values ($1) on conflict do nothing", [org]);
  await db.pool.query(
    "insert into evidence (org_id, id, sha256, size, filename, content_type, created_at) values ($1, $2, $3, $4, 'f', 'text/plain', now())",
    [org, randomUUID(), staged.sha256, content.length],
  );
  return staged.sha256;
}

async function make(): Promise<string> {
  const id = randomUUID();
  const path = join(folder, backupName(Date.now() / 1000, id));
  const sink = await openFileSink(path);
  await writePhysicalBackup(
    { db, evidence: createEvidenceStore(evidence), config: { databaseUrl: undefined } },
    sink,
    { id, program: "1", evidence: "full", life: undefined },
  );
  await sink.finish();
  return path;
}

async function restore(file: string, dataDir: string, replace = false): Promise<PhysicallyRestored> {
  return restorePhysicalBackup({
    found: await lookAtBackup(openFile(file, undefined)),
    open: () => createReadStream(file),
    openOther: async () => undefined,
    dataDir,
    evidence: { ...evidence, dir: join(dataDir, "evidence") },
    migrations: await readMigrations(migrationsFolder),
    finish: (restored) => prepareDatabase(restored, silentLog),
    beyond: undefined,
    archivedEvidence: undefined,
    replace,
    quarantine: true,
    quick: false,
    report: () => {},
  });
}

async function opened<T>(dataDir: string, work: (db: Database) => Promise<T>): Promise<T> {
  const copy = await startManagedPostgres({ dataDir, log: silentLog, settings: { fsync: "off" } });
  const connection = connect({ connection: copy.connection, max: 2 });
  try {
    return await work(connection);
  } finally {
    await connection.close();
    await copy.stop();
  }
}

async function digest(from: Database): Promise<unknown> {
  const { rows } = await from.pool.query(
    "select (select md5(string_agg(o::text, '' order by id)) from organizations o) as orgs, (select md5(string_agg(e::text, '' order by id)) from evidence e) as evidence",
  );
  return rows[0];
}

const flips = Number(process.env["WAYBILL_TEST_FLIPS"] ?? amount(4, 12));

describe("a physical backup", { timeout: 120_000 + flips * 1_000 }, () => {
  it("is restored as the database it is of, with its evidence, and notifies nobody", async () => {
    const source = await digest(db);
    const dataDir = join(folder, "copy");
    const restored = await restore(backup, dataDir);
    expect(restored.warnings).toEqual([]);
    expect(restored.end).toMatchObject({ evidence_files: 1, rows: 0 });
    await opened(dataDir, async (copy) => {
      expect(await digest(copy)).toEqual(source);
      expect(await findQuarantine(copy)).toBe(restored.head.id);
    });
  });

  it("is looked at and listed as others are", async () => {
    const found = await lookAtBackup(openFile(backup, undefined));
    expect(found.head).toMatchObject({ kind: "physical", tables: [], life: null });
    expect(found.end.cluster).toMatchObject({ timeline: 1 });
    const { backups, damaged } = await listBackups(folderPlace(folder));
    expect([backups.map(({ path }) => path), damaged]).toEqual([[backup], []]);
  });

  it("is refused when any byte is another, or any are missing", async () => {
    const whole = await readFile(backup);
    for (const { at, bytes } of withOneByteChanged(whole, flips)) {
      const reading = readBackup(Readable.from([bytes]));
      await expect(reading, `byte ${at} of ${whole.length}`).rejects.toThrow(DamagedArchive);
    }
    for (const length of [randomInt(whole.length), whole.length - 1024])
      await expect(readBackup(Readable.from([whole.subarray(0, length)]))).rejects.toThrow(DamagedArchive);
  });

  it("leaves what was there until all of it has come, and no server starts on a part of it", async () => {
    const broken = join(folder, "broken.tar");
    const whole = await readFile(backup);
    const changed = Buffer.from(whole);
    changed[Math.floor(whole.length / 2)]! ^= 1;
    await writeFile(broken, changed);
    const dataDir = join(folder, "kept");
    await expect(restore(broken, dataDir)).rejects.toThrow(DamagedArchive);
    const start = startManagedPostgres({ dataDir, log: silentLog });
    await expect(start).rejects.toThrow("did not finish");
    expect(await restore(backup, dataDir)).toMatchObject({ evidence_shared: false });
    await expect(restore(backup, dataDir)).rejects.toThrow("only with --force-nonempty");
    const before = await opened(dataDir, digest);
    await expect(restore(broken, dataDir, true)).rejects.toThrow(DamagedArchive);
    expect(await opened(dataDir, digest)).toEqual(before);
    // Evidence is there now that may be that of a later moment, which somebody may want to have again.
    expect(await restore(backup, dataDir, true)).toMatchObject({ evidence_shared: true });
    expect(existsSync(join(dataDir, "restore-unfinished"))).toBe(false);
  });

  it("leaves nothing on a disk that has no room for it, and is restored when there is", async ({ skip }) => {
    const disk = mountSmallDisk(120) ?? skip("file systems cannot be mounted here");
    onTestFinished(disk.remove);
    const dataDir = join(disk.path, "data");
    disk.fill(10_000_000);
    const failure: unknown = await restore(backup, dataDir).catch((error: unknown) => error);
    expect(isDiskFull(failure)).toBe(true);
    const { bavail, bsize } = statfsSync(disk.path);
    expect(bavail * bsize).toBeGreaterThan(9_000_000);
    await expect(opened(dataDir, async () => {})).rejects.toThrow("did not finish");
    disk.clear();
    expect((await restore(backup, dataDir)).warnings).toEqual([]);
  });

  it("is that of the managed PostgreSQL alone", async () => {
    const sink = await openFileSink(join(folder, "none.tar"));
    const elsewhere = {
      db,
      evidence: createEvidenceStore(evidence),
      config: { databaseUrl: "postgres://x" },
    };
    const options = { id: randomUUID(), program: "1", evidence: "none" as const, life: undefined };
    await expect(writePhysicalBackup(elsewhere, sink, options)).rejects.toThrow("runs itself");
    await sink.abandon();
  });

  it("has files that come while it is made", async () => {
    const making = make();
    const added = await addEvidence(randomBytes(50_000));
    const file = await making;
    const dataDir = join(folder, "later");
    const { warnings } = await restore(file, dataDir);
    expect(warnings).toEqual([]);
    const rows = await opened(dataDir, (copy) =>
      copy.pool.query("select 1 from evidence where sha256 = $1", [added]).then(({ rowCount }) => rowCount),
    );
    if (rows === 1) expect(existsSync(join(dataDir, "evidence", added.slice(0, 2), added))).toBe(true);
  });
});
