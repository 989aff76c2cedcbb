import { spawnSync } from "node:child_process";
import { createHash, randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { readdirSync, statSync, utimesSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { markName } from "../../src/evidence/store.ts";
import { mebibyte } from "../../src/lib/units.ts";
import { startS3Server } from "../support/s3-server.ts";
import {
  initialAdminKey,
  postmasterPid,
  type ServerProcess,
  spawnWaybill,
  startServer,
  withDataDir,
  withUsedDataDir,
} from "../support/server-process.ts";
import { amount } from "../support/thorough.ts";

interface Site {
  server: ServerProcess;
  key: string;
  org: string;
}

function read(site: Site, path: string): Promise<Response> {
  return fetch(`${site.server.url}/api/v2${path}`, {
    headers: { authorization: `Bearer ${site.key}` },
    signal: AbortSignal.timeout(30_000),
  });
}

async function siteOf(server: ServerProcess, dataDir: string): Promise<Site> {
  const key = initialAdminKey(dataDir);
  const organizations = (await (await read({ server, key, org: "" }, "/organizations")).json()) as {
    name: string;
    kind: string;
  }[];
  return { server, key, org: organizations.find(({ kind }) => kind === "shared")!.name };
}

const boundary = "waybill-durability";

/** Begins to upload the file of an attestation; its bytes are for the caller to write. */
function open(site: Site, name: string): { sending: ClientRequest; status: Promise<number> } {
  const data = JSON.stringify({ attestation_name: name, is_compliant: true });
  const sending = request(`${site.server.url}/api/v2/attestations/${site.org}/web/trail/run/generic`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${site.key}`,
      "content-type": `multipart/form-data; boundary=${boundary}`,
    },
  });
  const status = new Promise<number>((resolve, reject) => {
    sending.once("error", reject);
    sending.once("response", (answer) => {
      text(answer).then(() => resolve(answer.statusCode ?? 0), reject);
    });
  });
  const part = `--${boundary}\r\nContent-Disposition: form-data; name=`;
  sending.write(`${part}"data_json"\r\n\r\n${data}\r\n`);
  sending.write(`${part}"attachment_file"; filename="evidence.bin"\r\n\r\n`);
  return { sending, status };
}

async function send(sending: ClientRequest, bytes: Buffer): Promise<void> {
  if (!sending.write(bytes)) await once(sending, "drain");
}

function end(sending: ClientRequest): void {
  sending.end(`\r\n--${boundary}--\r\n`);
}

/** Uploads until told to stop or until the server is gone, and notes what was acknowledged. */
async function write(site: Site, label: string, into: Map<string, string>, stop: AbortSignal): Promise<void> {
  for (let number = 0; !stop.aborted; number += 1) {
    const name = `${label}-${number}`;
    const bytes = randomBytes(randomInt(1, 400_000));
    const { sending, status } = open(site, name);
    try {
      sending.write(bytes);
      end(sending);
      if ((await status) === 201) into.set(name, createHash("sha256").update(bytes).digest("hex"));
    } catch {
      // The connection broke: nothing was acknowledged.
      await delay(20);
    }
  }
}

async function strike(site: Site, dataDir: string, cycle: number): Promise<void> {
  const postgres = cycle % 2 === 1 ? postmasterPid(dataDir) : undefined;
  if (postgres !== undefined) process.kill(postgres, "SIGKILL");
  await site.server.kill();
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Bytes of the largest file in a folder whose files come and go. */
function largestIn(folder: string): number {
  return Math.max(0, ...filesIn(folder).map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0));
}

/** Makes everything stored look as if it had been there for two days. */
function age(folder: string): void {
  const then = Date.now() / 1000 - 2 * 24 * 3600;
  for (const path of filesIn(folder)) utimesSync(path, then, then);
}

/** What has been acknowledged is there, read as clients do. */
async function expectAll(site: Site, acknowledged: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, sha256] of acknowledged) {
    const [shown] = (await (await read(site, `/attestations/${site.org}/web/trail/run/${name}`)).json()) as {
      attestation_id: string;
      evidence_archive_fingerprint: string;
    }[];
    expect(shown?.evidence_archive_fingerprint, name).toBe(sha256);
    const path = `/attestations/${site.org}/web/trail/run/attestation/${shown!.attestation_id}/evidence`;
    const bytes = Buffer.from(await (await read(site, path)).arrayBuffer());
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
  }
}

type Environment = Record<string, string>;

/** What is done right before the server is killed for the last time. @returns what is to be checked afterwards. */
type LastAct = (site: Site) => Promise<() => Promise<void>>;

/** Uploads and kills so many times. @returns the server that is left, and what was acknowledged by all of them. */
async function uploadAndKill(
  dataDir: string,
  cycles: number,
  { environment = {}, lastAct }: { environment?: Environment; lastAct?: LastAct } = {},
): Promise<{ site: Site; acknowledged: Map<string, string> }> {
  const acknowledged = new Map<string, string>();
  let site = await siteOf(await startServer(dataDir, environment), dataDir);
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const stop = new AbortController();
    const before = acknowledged.size;
    const busy = Array.from({ length: 6 }, (_, writer) =>
      write(site, `c${cycle}-w${writer}`, acknowledged, stop.signal),
    );
    while (acknowledged.size < before + 5) await delay(20);
    await delay(randomInt(0, 150));
    const check = cycle === cycles - 1 ? await lastAct?.(site) : undefined;
    await strike(site, dataDir, cycle);
    stop.abort();
    await Promise.all(busy);
    await check?.();
    site.server = await startServer(dataDir, environment);
  }
  return { site, acknowledged };
}

/** `waybill admin evidence verify` beside the server. */
async function verify(
  dataDir: string,
  options: string[],
  environment: Environment = {},
): Promise<{ code: number | null; output: string }> {
  const settings = { WAYBILL_DATA_DIR: dataDir, ...environment };
  const child = spawnWaybill(["admin", "evidence", "verify", ...options], settings);
  const [output] = await Promise.all([text(child.stdout!), once(child, "exit")]);
  return { code: child.exitCode, output };
}

// At the same time: most of it is waiting for servers to start.
describe.concurrent("kill -9 of the server during uploads", () => {
  it(
    "loses no acknowledged file, names none that is not there, and can clean up",
    { timeout: 300_000 },
    async () => {
      await withUsedDataDir(async (dataDir) => {
        const evidence = join(dataDir, "evidence");
        const incoming = join(evidence, "incoming");
        // An upload that is cut off for certain, among the others.
        const lastAct: LastAct = async (site) => {
          const { sending, status } = open(site, "cut");
          const cut = expect(status).rejects.toThrow(/socket hang up|ECONNRESET|EPIPE/);
          await send(sending, randomBytes(3 * mebibyte));
          while (largestIn(incoming) < mebibyte) await delay(10);
          return () => cut;
        };
        const { site, acknowledged } = await uploadAndKill(dataDir, amount(2, 4), { lastAct });
        await expectAll(site, acknowledged);

        // Every row has its file, byte for byte.
        const found = await verify(dataDir, []);
        expect([found.code, found.output]).toEqual([
          0,
          expect.not.stringMatching(/missing|damaged|unreadable/),
        ]);
        // What nobody refers to stays for a day, as it may be about to be referred to, and goes then.
        expect(filesIn(incoming).length).toBeGreaterThan(0);
        age(evidence);
        const cleaned = await verify(dataDir, ["--remove-orphans"]);
        expect([cleaned.code, cleaned.output]).toEqual([0, expect.stringContaining("unfinished upload")]);
        expect(filesIn(incoming)).toEqual([]);
        const after = await verify(dataDir, []);
        const files = filesIn(evidence).filter((path) => basename(path) !== markName).length;
        expect(files).toBeGreaterThanOrEqual(acknowledged.size);
        expect(after.output).toContain(`Checked ${files} files`);
        expect(after.output).toContain("Found 0 orphans");
        expect(await site.server.stop()).toBe(0);
      });
    },
  );
});

describe.concurrent("kill -9 of a server whose evidence is in a bucket", () => {
  it(
    "loses no acknowledged file, names none that is not there, and can clean up",
    { timeout: 300_000 },
    async () => {
      const credentials = { accessKey: "known", secretKey: "a secret", region: "us-east-1" };
      const bucket = await startS3Server(credentials);
      const environment = {
        WAYBILL_EVIDENCE_S3_ENDPOINT: bucket.endpoint,
        WAYBILL_EVIDENCE_S3_BUCKET: bucket.bucket,
        WAYBILL_EVIDENCE_S3_ACCESS_KEY: credentials.accessKey,
        WAYBILL_EVIDENCE_S3_SECRET_KEY: credentials.secretKey,
      };
      try {
        // Not a used one, whose database has evidence of its own already.
        await withDataDir(async (dataDir) => {
          const { site, acknowledged } = await uploadAndKill(dataDir, 2, { environment });
          await expectAll(site, acknowledged);
          const found = await verify(dataDir, [], environment);
          expect([found.code, found.output]).toEqual([
            0,
            expect.not.stringMatching(/missing|damaged|unreadable/),
          ]);
          await bucket.age(2 * 24 * 3600);
          expect((await verify(dataDir, ["--remove-orphans"], environment)).code).toBe(0);
          const after = await verify(dataDir, [], environment);
          const { length } = (await bucket.keys()).filter((key) => !key.endsWith(markName));
          expect(length).toBeGreaterThanOrEqual(acknowledged.size);
          expect(after.output).toContain(`Checked ${length} files`);
          expect(after.output).toContain("Found 0 orphans");
          await site.server.stop();
          expect(site.server.output()).not.toContain("AWS SDK");
        });
      } finally {
        await bucket.stop();
      }
    },
  );
});

/** Memory of a process that is not shared with files, in bytes. */
function residentBytes(pid: number): number {
  return Number(spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).stdout) * 1024;
}

describe("the memory of the server", () => {
  it("grows by a few megabytes at most while files of 10 MB are uploaded", { timeout: 300_000 }, async () => {
    await withUsedDataDir(async (dataDir) => {
      const site = await siteOf(await startServer(dataDir), dataDir);
      const piece = randomBytes(65_536);
      const upload = async (name: string, bytes: number): Promise<number> => {
        const { sending, status } = open(site, name);
        for (let sent = 0; sent < bytes; sent += piece.length) await send(sending, piece);
        end(sending);
        return status;
      };
      for (let number = 0; number < 60; number += 1)
        expect(await upload(`warm-${number}`, mebibyte)).toBe(201);
      const before = residentBytes(site.server.pid);
      const uploads = Array.from({ length: 6 }, (_, number) => open(site, `large-${number}`));
      let most = 0;
      for (let sent = 0; sent < 10 * mebibyte; sent += piece.length) {
        await Promise.all(uploads.map(({ sending }) => send(sending, piece)));
        if (sent % mebibyte === 0) most = Math.max(most, residentBytes(site.server.pid));
      }
      for (const { sending } of uploads) end(sending);
      for (const { status } of uploads) expect(await status).toBe(201);
      most = Math.max(most, residentBytes(site.server.pid));
      // Held in memory the files would be 60 MB.
      expect((most - before) / mebibyte).toBeLessThan(24);
      expect(await site.server.stop()).toBe(0);
    });
  });
});
