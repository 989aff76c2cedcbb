import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { type Config, readConfig } from "../../src/config.ts";
import type { HealthReport } from "../../src/domain/health.ts";
import { createLogger, silentLog } from "../../src/lib/log.ts";
import {
  bringLeftWal,
  carryLeftWal,
  listLeftWal,
  noteDestination,
  sayLeftWal,
} from "../../src/modules/maintenance/wal/left-service.ts";
import { startTestApp } from "../support/app.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";

const credentials = { accessKey: "known", secretKey: "a secret", region: "us-east-1" };
const life = "20261123T100000Z-0123abcd";
const never = new AbortController().signal;

let server: S3Server;
let folder: string;
beforeAll(async () => {
  server = await startS3Server(credentials);
  folder = await mkdtemp(join(tmpdir(), "waybill-wal-left-"));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("WAL that waits for an archive that the settings do not name any more", () => {
  let dataDir: string;
  beforeEach(async () => {
    await server.clear();
    dataDir = join(folder, randomUUID());
  });

  const settings = (more: Record<string, string>): Record<string, string> => ({
    WAYBILL_DATA_DIR: dataDir,
    WAYBILL_BACKUP_S3_ENDPOINT: server.endpoint,
    WAYBILL_BACKUP_S3_ACCESS_KEY: credentials.accessKey,
    WAYBILL_BACKUP_S3_SECRET_KEY: credentials.secretKey,
    ...more,
  });
  const configOf = (more: Record<string, string>): Config => readConfig(settings(more));
  const bucket = (name: string): Record<string, string> => ({
    WAYBILL_WAL_TO: `s3://evidence/${name}`,
  });

  /** Has a file wait as a server with these settings leaves it. */
  async function leave(config: Config, name = "0".repeat(24)): Promise<string> {
    const wal = join(config.wal!.folder, life, "wal");
    await mkdir(wal, { recursive: true });
    await noteDestination({ config, log: silentLog });
    await writeFile(join(wal, `${name}.gz`), randomBytes(100));
    return join(wal, `${name}.gz`);
  }
  const bring = (config: Config) => bringLeftWal({ config, log: silentLog }, never);

  it.each([
    ["another bucket", bucket("new")],
    ["a folder", { WAYBILL_WAL_TO: join(tmpdir(), "waybill-new-archive") }],
    ["none", {}],
  ])("is brought there when they name %s, and its folder is removed", async (_, now) => {
    const before = configOf(bucket("old"));
    await leave(before);
    const told: string[] = [];
    const log = createLogger("info", { write: (line) => void told.push(line) });
    const carrying = carryLeftWal({ config: configOf(now), log });
    await expect
      .poll(() => server.keys(), { timeout: 20_000 })
      .toEqual([`old/${life}/wal/${"0".repeat(24)}.gz`]);
    await expect.poll(() => existsSync(before.wal!.folder), { timeout: 20_000 }).toBe(false);
    await carrying.stop();
    expect(told.join()).toContain("Brought the WAL that waited");
    expect(await listLeftWal(configOf(now))).toEqual([]);
  });

  it("is encrypted for those it was to be encrypted for", async () => {
    const recipient = await identityToRecipient(await generateIdentity());
    await leave(configOf({ ...bucket("old"), WAYBILL_BACKUP_ENCRYPT_TO: recipient }));
    expect(await bring(configOf(bucket("new")))).toEqual([]);
    expect(await server.keys()).toEqual([`old/${life}/wal/${"0".repeat(24)}.gz.age`]);
  });

  it("waits while its archive is away, which is told, and follows", async () => {
    await leave(configOf(bucket("old")));
    const config = configOf(bucket("new"));
    await server.failNext("PUT", 12);
    const left = await bring({
      ...config,
      backups: { ...config.backups, s3: { ...config.backups.s3!, attempts: 1 } },
    });
    expect(sayLeftWal(left)).toMatch(
      new RegExp(`^100 bytes of WAL wait in .* for s3://${server.bucket}/old, .*SlowDown`),
    );
    await server.clear();
    expect(await bring(config)).toEqual([]);
    expect(await server.keys()).toHaveLength(1);
  });

  it("is set aside, and never goes elsewhere, when another service is named, or it is not known where it was to go", async () => {
    const before = configOf(bucket("old"));
    await leave(before);
    const config = configOf({ ...bucket("old"), WAYBILL_BACKUP_S3_ENDPOINT: "http://127.0.0.1:9" });
    // A bucket of that name at another service is another archive.
    expect(config.wal!.folder).not.toBe(before.wal!.folder);
    const [left, ...others] = await bring(config);
    expect(others).toEqual([]);
    expect(left).toMatchObject({ folder: before.wal!.folder, files: 1, bytes: 100, problem: null });
    await rm(join(before.wal!.folder, "destination.json"));
    expect(sayLeftWal(await bring(configOf(bucket("new"))))).toContain("for an archive");
    expect(await server.keys()).toEqual([]);
    // Named again, it is brought by whoever brings all else.
    expect(await listLeftWal(before)).toEqual([]);
  });

  it("is removed when no moment of the window is restored with it, which is told", async () => {
    const path = await leave(configOf(bucket("old")));
    const elsewhere = { WAYBILL_BACKUP_S3_ENDPOINT: "http://127.0.0.1:9" };
    const config = configOf({ ...bucket("new"), ...elsewhere, WAYBILL_WAL_KEEP_DAYS: "2" });
    expect(await bring(config)).toHaveLength(1);
    const twoDaysAgo = Date.now() / 1000 - 2 * 86_400 - 60;
    await utimes(path, twoDaysAgo, twoDaysAgo);
    const told: string[] = [];
    const log = createLogger("info", { write: (line) => void told.push(line) });
    expect(await bringLeftWal({ config, log }, never)).toEqual([]);
    expect(existsSync(path)).toBe(false);
    expect(told.join()).toContain("Removed WAL");
  });

  it("takes no more of the disk than may wait: the oldest goes first", async () => {
    const [first, second] = [configOf(bucket("first")), configOf(bucket("second"))];
    const most = 64 * 1024 * 1024;
    for (const [at, config] of [first, second].entries()) {
      const path = await leave(config);
      await truncate(path, 40 * 1024 * 1024);
      await utimes(path, Date.now() / 1000, Date.now() / 1000 - 60 + at);
    }
    const config = configOf({
      ...bucket("new"),
      WAYBILL_BACKUP_S3_ENDPOINT: "http://127.0.0.1:9",
      WAYBILL_MAX_WAL_ARCHIVE_BYTES: String(most),
    });
    expect((await bring(config)).map((each) => each.folder)).toEqual([second.wal!.folder]);
    expect(existsSync(first.wal!.folder)).toBe(false);
  });

  it("is told of as well where it is of a life that ended, and does not get away", async () => {
    const config = configOf(bucket("old"));
    const path = await leave(config);
    await mkdir(join(dataDir, "postgres"));
    const now = { life: "20261123T110000Z-89abcdef", folder: config.wal!.folder };
    await writeFile(join(dataDir, "postgres", "waybill-wal-archive"), JSON.stringify(now));
    expect(sayLeftWal(await bring(config))).toBeUndefined();
    const sixMinutesAgo = Date.now() / 1000 - 360;
    await utimes(path, sixMinutesAgo, sixMinutesAgo);
    expect(sayLeftWal(await bring(config))).toContain("from before a restore");
    // Brought by whoever brings all else.
    expect(await server.keys()).toEqual([]);
    await writeFile(join(dataDir, "postgres", "waybill-wal-archive"), JSON.stringify({ ...now, life }));
    expect(await listLeftWal(config)).toEqual([]);
  });

  it("makes the check of the archive degraded", async () => {
    await leave(configOf(bucket("old")));
    const token = "a-token-for-the-scraper";
    const app = await startTestApp({ WAYBILL_DATA_DIR: dataDir, WAYBILL_METRICS_TOKEN: token });
    try {
      const { checks } = (await app.as(token).get("/health")).json as HealthReport;
      expect(checks.find(({ name }) => name === "wal_archive")).toMatchObject({
        status: "degraded",
        detail: expect.stringContaining(`for s3://${server.bucket}/old`),
      });
    } finally {
      await app.close();
    }
  });
});
