import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";

import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { createFileStore } from "../../src/evidence/files.ts";
import { decryptAge } from "../../src/lib/age.ts";
import { openPlace, type Place } from "../../src/modules/maintenance/backups/place-service.ts";
import { plainEvidence, sealedEvidence } from "../../src/modules/maintenance/wal/evidence-archive.ts";
import { sendWaiting } from "../../src/modules/maintenance/wal/forward-service.ts";
import { readSent, writeSent } from "../../src/modules/maintenance/wal/forwarded-service.ts";
import { streamOf } from "../support/evidence.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";

const credentials = { accessKey: "known", secretKey: "a secret", region: "us-east-1" };

let server: S3Server;
let folder: string;
let root: Place;
beforeAll(async () => {
  server = await startS3Server(credentials);
  folder = await mkdtemp(join(tmpdir(), "waybill-wal-forwarding-"));
  root = openPlace(`s3://${server.bucket}/wal`, { ...credentials, endpoint: server.endpoint, attempts: 2 });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("files of the log on their way to a bucket", () => {
  const life = "20261123T100000Z-0123abcd";
  let spool: string;
  let own: string;
  beforeEach(async () => {
    await server.clear();
    spool = join(folder, randomUUID());
    own = join(spool, life);
    await mkdir(join(own, "wal"), { recursive: true });
  });

  const key = (name: string): string => `wal/${life}/wal/${name}`;
  async function put(
    number: number,
    content: Buffer = randomBytes(1_000),
  ): Promise<{ name: string; content: Buffer }> {
    const name = `${number.toString(16).toUpperCase().padStart(24, "0")}.gz`;
    await writeFile(join(own, "wal", name), gzipSync(content));
    return { name, content };
  }
  const left = (): Promise<string[]> => readdir(join(own, "wal"));
  const send = (encryptTo: string[] = []): Promise<void> => sendWaiting({ root, encryptTo }, spool);

  it("arrive as they were, and are removed then; those under way are none", async () => {
    const files = [await put(1), await put(2), await put(3)];
    await writeFile(join(own, "wal", ".000.gz.1.partial"), "half");
    await send();
    expect(await server.keys()).toEqual(files.map(({ name }) => key(name)));
    for (const { name, content } of files)
      expect(gunzipSync((await server.read(key(name)))!)).toEqual(content);
    expect(await left()).toEqual([".000.gz.1.partial"]);
    expect(await readSent(own)).toMatchObject({ failing_since: null, problem: null });
  });

  it("wait while the bucket is away, which is noted, and follow", async () => {
    await put(1);
    await put(2);
    await server.failNext("PUT", 4);
    await expect(send()).rejects.toThrow("SlowDown (503)");
    const failing = await readSent(own);
    expect(failing.problem).toContain("SlowDown");
    expect(failing.failing_since).toBeGreaterThan(Date.now() / 1000 - 60);
    expect(await left()).toHaveLength(2);
    await server.clear();
    await server.cutNext("PUT", 1);
    await send();
    expect(await left()).toEqual([]);
    expect(await readSent(own)).toMatchObject({ failing_since: null, problem: null });
    expect(await server.keys()).toHaveLength(2);
  });

  it("are known again by whoever was interrupted after they arrived", async () => {
    const { name, content } = await put(1);
    await send();
    await put(1, content);
    await send();
    expect(await left()).toEqual([]);
    // Also when nothing is known of it any more.
    await put(1, content);
    await rm(join(own, "sent.json"));
    await send();
    expect(await left()).toEqual([]);
    expect(await server.keys()).toEqual([key(name)]);
  });

  it("are taken for there when the answer was lost, encrypted or not", async () => {
    const recipients = [await identityToRecipient(await generateIdentity())];
    for (const encryptTo of [[], recipients]) {
      const { name } = await put(1);
      await server.loseNext("PUT", 1);
      await send(encryptTo);
      expect(await left()).toEqual([]);
      expect(await server.keys()).toContain(key(encryptTo.length === 0 ? name : `${name}.age`));
    }
  });

  it("of another life arrive also when those of one cannot", async () => {
    const stuck = await put(1);
    await server.write(key(stuck.name), Buffer.from("another file"));
    const later = join(spool, "20261123T110000Z-89abcdef");
    await mkdir(join(later, "wal"), { recursive: true });
    await writeFile(join(later, "wal", stuck.name), gzipSync(stuck.content));
    await expect(send()).rejects.toThrow("is another file");
    expect(await readdir(join(later, "wal"))).toEqual([]);
    expect(await readSent(own)).toMatchObject({ problem: expect.stringContaining("is another file") });
    expect(await readSent(later)).toMatchObject({ failing_since: null, problem: null });
  });

  it("never take the place of another file", async () => {
    const { name, content } = await put(1);
    await send();
    await put(1);
    await expect(send()).rejects.toThrow("is there already, and is another file");
    await expect(send()).rejects.toThrow("is there already, and is another file");
    expect(gunzipSync((await server.read(key(name)))!)).toEqual(content);
    expect(await left()).toEqual([name]);
  });

  it("are encrypted where that is wanted, and known again then, too", async () => {
    const identity = await generateIdentity();
    const recipients = [await identityToRecipient(identity)];
    const { name, content } = await put(1);
    await send(recipients);
    const stored = (await server.read(key(`${name}.age`)))!;
    expect(await server.keys()).toEqual([key(`${name}.age`)]);
    const pieces: Buffer[] = [];
    for await (const piece of decryptAge(Readable.from([stored]), [identity])) pieces.push(piece);
    expect(gunzipSync(Buffer.concat(pieces))).toEqual(content);
    await put(1, content);
    await send(recipients);
    expect(await left()).toEqual([]);
    await put(1);
    await expect(send(recipients)).rejects.toThrow("is another file");
    await writeSent(own, { begun: [], bytes: 0, last_success: null, failing_since: null, problem: null });
    await put(1, content);
    await expect(send(recipients)).rejects.toThrow("is another file");
    expect(await server.read(key(`${name}.age`))).toEqual(stored);
  });
});

describe("a content that cannot be brought to an archive", () => {
  it.each(["encrypted", "as it is"])("is closed: %s", async (how) => {
    const file = join(folder, randomUUID());
    await writeFile(file, "no folder");
    const recipients = [await identityToRecipient(await generateIdentity())];
    const to = how === "encrypted" ? sealedEvidence(root, recipients) : plainEvidence(createFileStore(file));
    const content = streamOf("content");
    await server.failNext("POST", 6);
    await expect(to.copy("0".repeat(64), { open: async () => content })).rejects.toThrow(
      how === "encrypted" ? "SlowDown" : "ENOTDIR",
    );
    expect(content.destroyed).toBe(true);
    await server.clear();
  });
});
