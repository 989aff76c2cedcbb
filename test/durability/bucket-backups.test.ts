import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";

import { openPlace, type Place } from "../../src/modules/maintenance/backups/place-service.ts";
import { openArchive } from "../../src/modules/maintenance/backups/encryption-service.ts";
import { listBackups } from "../../src/modules/maintenance/backups/folder-service.ts";
import { readBackup } from "../../src/modules/maintenance/backups/read-service.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { withExternalDatabase } from "../support/cloned-database.ts";
import { runOn, urlOf } from "../support/databases.ts";
import { keepEvidence } from "../support/evidence.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import { initialAdminKey, spawnWaybill, startServer } from "../support/server-process.ts";

const credentials = { accessKey: "known", secretKey: "a secret", region: "us-east-1" };

let server: S3Server;
let settings: Record<string, string>;
let to: string;
let place: Place;
beforeAll(async () => {
  server = await startS3Server(credentials);
  to = `s3://${server.bucket}/nightly`;
  settings = {
    WAYBILL_BACKUP_S3_ENDPOINT: server.endpoint,
    WAYBILL_BACKUP_S3_ACCESS_KEY: credentials.accessKey,
    WAYBILL_BACKUP_S3_SECRET_KEY: credentials.secretKey,
  };
  place = openPlace(to, { ...credentials, endpoint: server.endpoint });
});
beforeEach(() => server.clear());
afterAll(() => server.stop());

/** Reads every byte of the only backup in the bucket. */
async function readOnly(): Promise<string> {
  const { backups, damaged } = await listBackups(place);
  expect([backups.length, damaged]).toEqual([1, []]);
  const { head } = await readBackup(openArchive(backups[0]!.file));
  return head.id;
}

const minuteMs = 60_000;

describe("a server's own clock", { timeout: 60_000 }, () => {
  it("has a backup made into a bucket when one is due, without anybody's doing", async () => {
    await withExternalDatabase(async (url, dataDir) => {
      // It was due two minutes ago, as far as the last server wrote down.
      await runOn(
        url,
        `insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
           values ('backup', now() - interval '2 hours', now() - interval '30 minutes')`,
      );
      const due = new Date(Date.now() - 2 * minuteMs);
      const running = await startServer(dataDir, {
        ...settings,
        DATABASE_URL: url,
        WAYBILL_BACKUP_TO: to,
        WAYBILL_BACKUP_AT: `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`,
        WAYBILL_BACKUP_DRILL_AT: "off",
      });
      const key = initialAdminKey(dataDir);
      const runs = async (): Promise<unknown> => {
        const answer = await fetch(`${running.url}/api/v2/instance/backups`, {
          headers: { authorization: `Bearer ${key}` },
        });
        return ((await answer.json()) as { runs: unknown }).runs;
      };
      await expect
        .poll(runs, { timeout: 30_000, interval: 100 })
        .toMatchObject([{ kind: "backup", state: "succeeded", scheduled: true, problem: null }]);
      await readOnly();
      expect(await server.uploads()).toEqual([]);
      await running.stop();
    });
  });
});

describe("a backup that is killed in the middle of its upload", { timeout: 60_000 }, () => {
  let app: TestApp;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "waybill-killed-upload-"));
    app = await startTestApp({}, { maintained: true });
    // Three parts of an upload and some.
    const org = await app.org();
    for (const size of [13, 12]) await keepEvidence(app, org, randomBytes(size * 1024 * 1024));
  });
  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  const start = (args: string[]) =>
    spawnWaybill(args, {
      ...settings,
      DATABASE_URL: urlOf(inject("postgres"), app.database),
      WAYBILL_DATA_DIR: join(folder, "data"),
      WAYBILL_EVIDENCE_DIR: app.deps.config.evidence.dir,
    });

  /** The command line, until it ends. */
  async function waybill(args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = start(args);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, "close"),
    ]);
    return { code: code as number | null, stdout, stderr };
  }

  it("leaves nothing that looks like a backup, and parts that the next ones remove, and tell of", async () => {
    // Later parts are refused for as long as somebody tries, so that it is in the middle for sure.
    await server.failPartsAfter(1);
    const killed = start(["backup", "--to", `${to}/`]);
    const ended = once(killed, "close");
    const parts = async (): Promise<number> =>
      (await server.requests()).filter((each) => each.startsWith("PUT ")).length;
    await expect.poll(parts, { timeout: 30_000, interval: 10 }).toBeGreaterThan(1);
    killed.kill("SIGKILL");
    expect((await ended)[1]).toBe("SIGKILL");
    const [left, ...others] = await server.uploads();
    expect([await server.keys(), others]).toEqual([[], []]);
    expect(left).toMatch(/^nightly\/waybill-.*\.tar$/);
    expect(await waybill(["backup", "list", to])).toEqual({ code: 0, stdout: "", stderr: "" });

    // The next one succeeds. It does not know that nobody is at the other any more.
    await server.failPartsAfter(undefined);
    const next = await waybill(["backup", "--to", `${to}/`, "--keep", "7d", "--json"]);
    expect([next.code, next.code === 0 ? "" : next.stderr]).toEqual([0, ""]);
    const { id } = JSON.parse(next.stdout) as { id: string };
    expect(await readOnly()).toBe(id);
    expect(await server.uploads()).toEqual([left]);

    // A day later nobody can be.
    await server.age(25 * 3_600);
    const pruned = await waybill(["backup", "prune", to, "--keep", "7d"]);
    expect(pruned).toEqual({ code: 0, stdout: `Removed s3://${server.bucket}/${left}\n`, stderr: "" });
    expect([await readOnly(), await server.uploads()]).toEqual([id, []]);
  });
});
