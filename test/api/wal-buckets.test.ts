import { randomBytes, randomUUID } from "node:crypto";
import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { migrationsFolder, prepareDatabase } from "../../src/open-database.ts";
import { type Config, readConfig, walScripts } from "../../src/config.ts";
import { connect, type Database } from "../../src/db/connect.ts";
import {
  findWalArchive,
  type ManagedPostgres,
  startManagedPostgres,
  type WalArchive,
} from "../../src/db/managed/index.ts";
import { readMigrations } from "../../src/db/migrate.ts";
import { createEvidenceStore } from "../../src/evidence/create.ts";
import type { EvidenceStore } from "../../src/evidence/store.ts";
import { createLogger, silentLog } from "../../src/lib/log.ts";
import { openArchive } from "../../src/modules/maintenance/backups/encryption-service.ts";
import { listBackups } from "../../src/modules/maintenance/backups/folder-service.ts";
import {
  type ArchivedWal,
  type PhysicalRestoreOptions,
  restorePhysicalBackup,
} from "../../src/modules/maintenance/backups/physical-restore-service.ts";
import { openPlace, type Place } from "../../src/modules/maintenance/backups/place-service.ts";
import { findBase } from "../../src/modules/maintenance/wal/archive-service.ts";
import { readEvidenceArchive } from "../../src/modules/maintenance/wal/evidence-archive.ts";
import { copyEvidence } from "../../src/modules/maintenance/wal/evidence-service.ts";
import { forwardWal, sendWaiting } from "../../src/modules/maintenance/wal/forward-service.ts";
import { readSentBases, writeSentBases } from "../../src/modules/maintenance/wal/forwarded-service.ts";
import { keepWalArchive, makeDueBase } from "../../src/modules/maintenance/wal/keep-service.ts";
import { openArchivedWal } from "../../src/modules/maintenance/wal/restore-service.ts";
import { readWalState, walHealth } from "../../src/modules/maintenance/wal/state-service.ts";
import { put as putContent } from "../support/evidence.ts";
import { findRealBucket, type RealBucket, withoutS3 } from "../support/real-s3.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import { amount } from "../support/thorough.ts";

const credentials = { accessKey: "known", secretKey: "a secret", region: "us-east-1" };

let server: S3Server;
let folder: string;
beforeAll(async () => {
  server = await startS3Server(credentials);
  folder = await mkdtemp(join(tmpdir(), "waybill-wal-bucket-"));
  // PostgreSQL runs as another user when the tests are root's.
  await chmod(folder, 0o755);
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A configuration whose archive is in the bucket. */
function configWith(dataDir: string, more: Record<string, string> = {}, given?: RealBucket): Config {
  const { access, bucket } = given ?? {
    access: { ...credentials, endpoint: server.endpoint },
    bucket: server.bucket,
  };
  return readConfig({
    WAYBILL_DATA_DIR: dataDir,
    WAYBILL_WAL_TO: `s3://${bucket}/${given === undefined ? "wal" : randomUUID()}`,
    WAYBILL_BACKUP_S3_ENDPOINT: access.endpoint ?? "",
    WAYBILL_BACKUP_S3_REGION: access.region,
    WAYBILL_BACKUP_S3_ACCESS_KEY: access.accessKey,
    WAYBILL_BACKUP_S3_SECRET_KEY: access.secretKey,
    ...more,
  });
}

const rootOf = ({ wal, backups }: Config): Place =>
  openPlace(wal!.forwardTo!, { ...backups.s3!, attempts: 2 });

const real = findRealBucket();
/** What is encrypted goes the way of what is not, and further. */
const plain = ["in a bucket", { isEncrypted: false, isReal: false }] as const;
const cases = [
  ...amount([], [plain]),
  ["in a bucket, encrypted", { isEncrypted: true, isReal: false }],
  ["in a bucket of a real service", { isEncrypted: false, isReal: true }],
] as const;

describe.each(cases)("an archive %s", { timeout: 240_000 }, (_, { isEncrypted, isReal }) => {
  const isSkipped = isReal && real === undefined;
  beforeEach(({ skip }) => {
    if (isSkipped) skip(withoutS3);
  });
  let config: Config;
  let identity: string;
  let managed: ManagedPostgres;
  let db: Database;
  let archive: WalArchive;
  let forwarding: ReturnType<typeof forwardWal>;
  const depsOf = () => ({
    config,
    db,
    evidence: createEvidenceStore(config.evidence),
    log: createLogger("silent"),
  });
  const identities = async () => [identity];

  beforeAll(async () => {
    if (isSkipped) return;
    await server.clear();
    identity = await generateIdentity();
    const recipient = await identityToRecipient(identity);
    const dataDir = join(folder, randomUUID());
    config = configWith(
      dataDir,
      isEncrypted ? { WAYBILL_BACKUP_ENCRYPT_TO: recipient } : {},
      isReal ? real : undefined,
    );
    managed = await startManagedPostgres({
      dataDir,
      log: silentLog,
      settings: { fsync: "off" },
      walArchive: { folder: config.wal!.folder, script: walScripts.archive },
    });
    db = connect({ connection: managed.connection, max: 4 });
    await prepareDatabase(db, silentLog);
    archive = (await findWalArchive(dataDir))!;
    forwarding = forwardWal(depsOf());
  }, 120_000);
  afterAll(async () => {
    if (isSkipped) return;
    await db.close();
    await managed.stop();
    await forwarding.stop();
  });

  /** Writes something, and ends the file of the log that it went to. */
  async function write(): Promise<string> {
    const name = `org-${randomUUID()}`;
    await db.pool.query(
      "insert into organizations (id, name, kind, created_at, last_modified_at) values ($1, $2, 'shared', now(), now())",
      [randomUUID(), name],
    );
    await db.pool.query("select pg_switch_wal()");
    return name;
  }
  const isSent = async (): Promise<boolean> => (await readWalState(depsOf()))!.waiting_bytes === 0;
  const waiting = { timeout: 60_000, interval: 100 };

  it("gets a physical backup and the log, and a moment is restored from there", async () => {
    expect(await isDue()).toBe(true);
    await makeDueBase(depsOf(), "1");
    expect(await isDue()).toBe(false);
    const early = await write();
    const at = Date.now() / 1000;
    await delay(50);
    const late = await write();
    await expect.poll(isSent, waiting).toBe(true);
    expect(await walHealth(depsOf())).toMatchObject({ status: "ok" });
    const root = rootOf(config);
    const { files } = await root.below(archive.life).below("wal").list();
    expect(files.length).toBeGreaterThan(1);
    expect(files.every(({ name }) => name.endsWith(".age") === isEncrypted)).toBe(true);
    const found = (await findBase(root, at, identities))!;
    const wal = (await openArchivedWal(root.below(archive.life).below("wal"), {
      script: walScripts.restore,
      identities,
    }))!;
    const dataDir = join(folder, randomUUID());
    const moment = new Date(at * 1000).toISOString().replace("Z", "+00:00");
    const wanted = {
      found,
      open: () => openArchive(found.file, identities),
      openOther: async () => undefined,
      dataDir,
      evidence: { dir: join(dataDir, "evidence"), maxBytes: 1, s3: undefined },
      migrations: await readMigrations(migrationsFolder),
      finish: async (restored) => {
        const { rows } = await restored.pool.query<{ name: string }>(
          "select name from organizations where name = any($1)",
          [[early, late]],
        );
        expect(rows).toEqual([{ name: early }]);
      },
      beyond: { until: { seconds: at, text: moment }, wal },
      archivedEvidence: undefined,
      replace: false,
      quarantine: true,
      quick: false,
      report: () => {},
    } satisfies PhysicalRestoreOptions;
    const { last_change } = await restorePhysicalBackup(wanted);
    expect(last_change).toBeDefined();
    expect(await readdir(dataDir)).not.toContain("restored-wal");

    // What is there stays when what came after the backup cannot be brought.
    const cluster = join(dataDir, "postgres");
    const before = await stat(cluster);
    const away: ArchivedWal = {
      ...wal,
      fetch: async (segments, to) => {
        await wal.fetch(segments, to);
        throw new Error("the bucket is away");
      },
    };
    const again = restorePhysicalBackup({
      ...wanted,
      replace: true,
      beyond: { ...wanted.beyond, wal: away },
    });
    await expect(again).rejects.toThrow("the bucket is away");
    expect((await stat(cluster)).ino).toBe(before.ino);
    expect(await readdir(dataDir)).not.toContain("restored-wal");
    expect(await readdir(dataDir)).not.toContain("restore-unfinished");
  });

  it("gets evidence, and gives it back", async () => {
    const copied = copyEvidence(depsOf());
    const staged = await copied.evidence.stage(Readable.from([Buffer.from("kept now")]), { maxBytes: 100 });
    await staged.keep();
    const there = readEvidenceArchive(rootOf(config), {
      s3: config.backups.s3,
      staging: join(folder, "staging"),
      identities,
    });
    const read = async (): Promise<string> =>
      text(await there.open(staged.sha256)).catch((error: Error) => error.name);
    await expect.poll(read, waiting).toBe("kept now");
    await copied.stop();
    await expect(there.open("0".repeat(64))).rejects.toThrow("is missing");
  });

  it("gets what is kept now before all that was there, and keeps no server from ending", async () => {
    const deps = depsOf();
    const org = randomUUID();
    await db.pool.query(
      "insert into organizations (id, name, kind, created_at, last_modified_at) values ($1, $2, 'shared', now(), now())",
      [org, `org-${org}`],
    );
    const earlier: string[] = [];
    for (let number = 0; number < 3; number += 1) {
      const { sha256, size } = await putContent(deps.evidence, randomBytes(100));
      earlier.push(sha256);
      await db.pool.query(
        "insert into evidence (org_id, id, sha256, size, filename, content_type, created_at) values ($1, $2, $3, $4, 'a', 'b', now())",
        [org, randomUUID(), sha256, size],
      );
    }
    const opened: string[] = [];
    let source = async (sha256: string): Promise<Readable> => deps.evidence.open(sha256);
    const watched = {
      stage: (given: Readable, limits: { maxBytes: number }) => deps.evidence.stage(given, limits),
      open: async (sha256: string) => {
        opened.push(sha256);
        if (opened.length === 1) opened.push((await putContent(copied.evidence, randomBytes(100))).sha256);
        return source(sha256);
      },
    } as unknown as EvidenceStore;
    const copied = copyEvidence({ ...deps, evidence: watched });
    await expect.poll(() => opened.length, waiting).toBe(5);
    const [first, kept, ...rest] = opened;
    expect(rest[0]).toBe(kept);
    expect(new Set([first, ...rest.slice(1)])).toEqual(new Set(earlier));

    // One that never ends.
    source = async () => new Readable({ read: () => {} });
    await putContent(copied.evidence, randomBytes(100));
    await expect.poll(() => opened.length, waiting).toBe(6);
    const begun = performance.now();
    await copied.stop();
    expect(performance.now() - begun).toBeLessThan(4_000);
  });

  it("says that it lags, and loses what no moment needs", async () => {
    await forwarding.stop();
    await write();
    await expect.poll(async () => (await readWalState(depsOf()))!.waiting_bytes, waiting).toBeGreaterThan(0);
    const nowhere = { ...config.backups.s3!, endpoint: "http://127.0.0.1:9", attempts: 1 };
    const away = openPlace(config.wal!.forwardTo!, nowhere);
    // What waits may be about to get its name still.
    const problem = (): Promise<string> =>
      sendWaiting({ root: away, encryptTo: [] }, config.wal!.folder).then(
        () => "",
        (error: unknown) => String(error),
      );
    await expect.poll(problem, waiting).toContain("ECONNREFUSED");
    expect(await readWalState(depsOf())).toMatchObject({ isFailing: true });
    expect((await walHealth(depsOf()))!.status).toBe("warning");
    forwarding = forwardWal(depsOf());
    await expect.poll(isSent, waiting).toBe(true);
    expect(await readWalState(depsOf())).toMatchObject({ isFailing: false });

    const places = rootOf(config).below(archive.life);
    const listLog = async () => (await places.below("wal").list()).files.map(({ name }) => name);
    const before = await listLog();
    const countBases = async (): Promise<number> => {
      const { backups, encrypted } = await listBackups(places.below("base"));
      return backups.length + encrypted.length;
    };
    await makeOlder();
    await makeDueBase(depsOf(), "1");
    // The moments of the last two weeks need the first one.
    expect(await countBases()).toBe(2);
    await makeOlder();
    config = { ...config, wal: { ...config.wal!, keepSeconds: 86_400 } };
    await makeDueBase(depsOf(), "1");
    expect(await countBases()).toBe(2);
    // More of the log may have come meanwhile.
    const left = await listLog();
    expect(before.filter((name) => !left.includes(name))).not.toEqual([]);
  });

  it("knows a physical backup again whose maker ended before it was noted", async () => {
    const noted = await readSentBases(archive.root);
    const last = noted.at(-1)!;
    await writeSentBases(archive.root, noted.slice(0, -1));
    await makeDueBase(depsOf(), "1");
    const { backups, encrypted } = await listBackups(rootOf(config).below(archive.life).below("base"));
    expect([...backups, ...encrypted].map(({ file }) => file.name)).toContain(last.name);
    const again = (await readSentBases(archive.root)).find(({ name }) => name === last.name);
    const facts = { ...last, sent_bytes: expect.any(Number) };
    // What one that is encrypted needs is known to nobody here: it counts by its name.
    if (isEncrypted) expect(again).toBeUndefined();
    else expect(again).toEqual(facts);
  });

  /** Has the archive's physical backups have been made eight days earlier. */
  async function makeOlder(): Promise<void> {
    const bases = await readSentBases(archive.root);
    await writeSentBases(
      archive.root,
      bases.map((each) => ({ ...each, finished_at: each.finished_at - 8 * 86_400 })),
    );
  }

  async function isDue(): Promise<boolean> {
    let isAsked = false;
    await keepWalArchive(depsOf(), async () => void (isAsked = true));
    return isAsked;
  }
});
