import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { afterEach, describe, expect, inject, it } from "vitest";

import { startTestApp } from "../support/app.ts";
import { withClonedDatabase, withExternalDatabase } from "../support/cloned-database.ts";
import { runOn, urlOf } from "../support/databases.ts";
import { start as startPostgres, usedDataDir } from "../support/managed-postgres.ts";
import {
  freePort,
  initialAdminKey,
  type ServerProcess,
  spawnWaybill,
  startServer,
} from "../support/server-process.ts";
import { makeBackup } from "../support/restoring.ts";
import { mountSmallDisk, type SmallDisk } from "../support/small-disk.ts";

const disks: SmallDisk[] = [];
afterEach(() => disks.splice(0).forEach((disk) => disk.remove()));

function smallDisk(megabytes: number, skip: (note: string) => never): SmallDisk {
  const disk = mountSmallDisk(megabytes) ?? skip("file systems cannot be mounted here");
  disks.push(disk);
  return disk;
}

interface Told {
  status: number;
  message: string | undefined;
  retryAfter: string | null;
}

async function ask(server: ServerProcess, path: string, init: RequestInit = {}): Promise<Told> {
  const response = await fetch(`${server.url}${path}`, init);
  const text = await response.text();
  const message = text.startsWith("{") ? (JSON.parse(text) as { message?: string }).message : undefined;
  return { status: response.status, message, retryAfter: response.headers.get("retry-after") };
}

/** Readiness is looked at every few seconds. */
async function readinessIs(server: ServerProcess, status: number): Promise<Told> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const told = await ask(server, "/ready");
    if (told.status === status) return told;
    if (Date.now() > deadline) throw new Error(`/ready never was ${status}: ${JSON.stringify(told)}`);
    await delay(100);
  }
}

function bearer(dataDir: string): { authorization: string } {
  return { authorization: `Bearer ${initialAdminKey(dataDir)}` };
}

/** An attestation with half a megabyte of evidence. */
function upload(server: ServerProcess, dataDir: string, name: string): Promise<Told> {
  const form = new FormData();
  const data = { attestation_name: name, is_compliant: true, user_data: {} };
  form.set("data_json", JSON.stringify(data));
  form.set("attachment_file", new Blob([Buffer.alloc(512 * 1024, name)]), `${name}.bin`);
  const path = "/api/v2/attestations/main/web/trail/run/generic";
  return ask(server, path, { method: "POST", headers: bearer(dataDir), body: form });
}

function putEnvironment(server: ServerProcess, dataDir: string, name: string): Promise<Told> {
  return ask(server, "/api/v2/environments/main", {
    method: "PUT",
    headers: { ...bearer(dataDir), "content-type": "application/json" },
    body: JSON.stringify({ name, type: "K8S", description: "x".repeat(400) }),
  });
}

/** Starts a server that must not come up. @returns its exit status and what it said. */
async function failingStart(environment: Record<string, string>): Promise<{ status: number; said: string }> {
  const child = spawnWaybill(["serve"], { PORT: String(await freePort()), ...environment });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  child.stdout?.resume();
  const [status] = (await once(child, "close")) as [number];
  return { status, said: said.trim() };
}

/** Has a server of which nothing is there yet but its database's schema. */
const withNewServer = (work: (environment: { DATABASE_URL: string }, dataDir: string) => Promise<void>) =>
  withExternalDatabase((DATABASE_URL, dataDir) => work({ DATABASE_URL }, dataDir));

describe("a full disk of evidence", { timeout: 180_000 }, () => {
  const full = "The disk of the evidence storage is full";

  it("is named, keeps the server from being ready, and is over when there is room", async ({ skip }) => {
    const disk = smallDisk(4, skip);
    // Not a used one, whose database has evidence of its own already.
    await withNewServer(async (environment, dataDir) => {
      const server = await startServer(dataDir, {
        ...environment,
        WAYBILL_EVIDENCE_DIR: join(disk.path, "evidence"),
      });
      expect(await upload(server, dataDir, "before")).toMatchObject({ status: 201 });
      disk.fill();
      expect(await upload(server, dataDir, "during")).toEqual({
        status: 503,
        message: `${full}, try again later`,
        retryAfter: "2",
      });
      expect(await readinessIs(server, 503)).toMatchObject({ message: `Not ready: ${full}` });
      expect(await ask(server, "/live")).toMatchObject({ status: 200 });
      expect(await putEnvironment(server, dataDir, "prod")).toMatchObject({ status: 201 });
      disk.clear();
      await readinessIs(server, 200);
      expect(await upload(server, dataDir, "after")).toMatchObject({ status: 201 });
      await server.stop();
      expect(server.output()).not.toContain('"status":500');
    });
  });

  it("is told at the start", async ({ skip }) => {
    const disk = smallDisk(4, skip);
    disk.fill();
    await withNewServer(async (environment, dataDir) => {
      const folder = join(disk.path, "evidence");
      const { status, said } = await failingStart({
        ...environment,
        WAYBILL_DATA_DIR: dataDir,
        WAYBILL_EVIDENCE_DIR: folder,
      });
      expect(said).toBe(`Evidence cannot be kept in ${folder}: no space left on the disk.`);
      expect(status).toBe(1);
    });
  });
});

describe("a full disk of the database", { timeout: 240_000 }, () => {
  const full = "The disk of the database is full";

  it("is named, keeps the server from being ready, and is over when there is room", async ({ skip }) => {
    const disk = smallDisk(300, skip);
    const dataDir = join(disk.path, "data");
    const server = await startServer(dataDir, {
      WAYBILL_EVIDENCE_DIR: join(disk.path, "evidence"),
      WAYBILL_LOG_LEVEL: "info",
    });
    try {
      disk.fill();
      expect(await readinessIs(server, 503)).toMatchObject({ message: `Not ready: ${full}` });
      let told: Told = { status: 201, message: undefined, retryAfter: null };
      for (let count = 0; count < 400 && told.status === 201; count += 1)
        told = await putEnvironment(server, dataDir, `env-${count}`);
      expect(told).toEqual({ status: 503, message: `${full}, try again later`, retryAfter: "2" });
      disk.clear();
      await readinessIs(server, 200);
      expect(await putEnvironment(server, dataDir, "after")).toMatchObject({ status: 201 });
    } finally {
      disk.clear();
      await server.stop();
    }
    expect(server.output()).not.toContain('"status":500');
  });

  it("is told at the first start", async ({ skip }) => {
    const disk = smallDisk(20, skip);
    const { status, said } = await failingStart({ WAYBILL_DATA_DIR: join(disk.path, "data") });
    expect(said).toMatch(/^Cannot .*: no space left on the disk\.$/);
    expect(status).toBe(1);
  });

  it("is told when there is no room for a key", async ({ skip }) => {
    const disk = smallDisk(4, skip);
    disk.fill();
    const dataDir = join(disk.path, "data");
    const { status, said } = await withClonedDatabase((DATABASE_URL) =>
      failingStart({ DATABASE_URL, WAYBILL_DATA_DIR: dataDir }),
    );
    const file = join(dataDir, "secret-key");
    expect(said).toContain(`Configuration: the secret key cannot be kept in ${file}: ENOSPC: no space left`);
    expect(said.split("\n")).toHaveLength(1);
    expect(status).toBe(1);
  });
});

/** Makes a database whose tables are on a disk of their own, in a PostgreSQL of its own: with a full disk it finishes no checkpoint, for which others would wait. */
async function databaseOn(disk: SmallDisk): Promise<{ url: string; stop(): Promise<void> }> {
  const { connection, stop } = await startPostgres(await usedDataDir());
  const { uid, gid } = statSync(join(connection.host, `.s.PGSQL.${connection.port}`));
  chownSync(disk.path, uid, gid);
  const name = "on_disk";
  await runOn(connection, `create tablespace ${name} location '${disk.path}'`);
  await runOn(connection, `create database ${name} tablespace ${name}`);
  return { url: urlOf(connection, name), stop };
}

interface Ran {
  status: number | null;
  said: string;
}

/** Runs a command to its end. @returns its exit status and what it said of failures. */
async function waybill(args: string[], environment: Record<string, string>): Promise<Ran> {
  const child = spawnWaybill(args, environment);
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  child.stdout?.resume();
  const [status] = (await once(child, "close")) as [number | null];
  return { status, said };
}

describe.skipIf(inject("cluster"))("backups and full disks", { timeout: 120_000 }, () => {
  it("are no backups, are refused by servers, and are made when only the database has no room", async ({
    skip,
  }) => {
    const [disk, target] = [smallDisk(64, skip), smallDisk(4, skip)];
    const database = await databaseOn(disk);
    const folder = mkdtempSync(join(tmpdir(), "waybill-full-"));
    const app = await startTestApp({}, { maintained: true });
    try {
      const source = {
        DATABASE_URL: urlOf(inject("postgres"), app.database),
        WAYBILL_DATA_DIR: folder,
      };
      const backup = await makeBackup(app, join(folder, "backup.tar"));

      target.fill(40_000);
      const unmade = await waybill(["backup", "--to", `${target.path}/`], source);
      expect(unmade).toEqual({ status: 1, said: "The disk is full: there is no backup\n" });
      expect(readdirSync(target.path)).toEqual(["filler"]);

      const restored = { DATABASE_URL: database.url, WAYBILL_DATA_DIR: folder };
      disk.fill(3_000_000);
      const refused = await waybill(["restore", backup], restored);
      expect(refused.status).toBe(1);
      expect(refused.said).toContain("The disk is full: the database is incomplete, and servers refuse it\n");
      disk.clear();
      expect(await waybill(["restore", backup, "--no-quarantine"], restored)).toMatchObject({ status: 0 });

      disk.fill();
      const elsewhere = join(folder, "elsewhere.tar");
      expect(await waybill(["backup", "--to", elsewhere, "--verify"], restored)).toMatchObject({ status: 0 });
      expect(existsSync(elsewhere)).toBe(true);
    } finally {
      disk.clear();
      await app.close();
      await database.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
