import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { createS3Store } from "../../src/evidence/s3.ts";
import { ContentDamaged, ContentMissing, type EvidenceStore } from "../../src/evidence/store.ts";
import { traceEvidence } from "../../src/evidence/traced.ts";
import type { Span } from "../../src/lib/tracing/tracing.ts";
import { get, put, streamOf, temporaryFolder } from "../support/evidence.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";

let folder: ReturnType<typeof temporaryFolder>;
let server: S3Server;
let store: EvidenceStore;

/** A span that nobody is told of. */
const untold: Span = {
  traceId: "",
  traceparent: "",
  isRecorded: false,
  child: () => untold,
  set: () => {},
  fail: () => {},
  end: () => {},
};

const credentials = { accessKey: "known", secretKey: "a secret", region: "us-east-1" };

function storeWith(
  changes: { accessKey?: string; secretKey?: string; region?: string; bucket?: string } = {},
): EvidenceStore {
  return createS3Store(
    {
      endpoint: server.endpoint,
      bucket: server.bucket,
      ...credentials,
      prefix: "waybill/",
      ...changes,
    },
    folder.path,
  );
}

beforeAll(async () => {
  folder = temporaryFolder();
  server = await startS3Server(credentials);
  store = storeWith();
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});
beforeEach(() => server.clear());

describe("evidence in a bucket", () => {
  it.each([0, 1, 3_000_000])("keeps %i bytes as they are, under their digest", async (size) => {
    const bytes = randomBytes(size);
    const { sha256 } = await put(store, bytes);
    expect(await server.keys()).toEqual([`waybill/${sha256}`]);
    expect(bytes.equals(await get(store, sha256))).toBe(true);
    expect(await store.has(sha256)).toBe(true);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("sends nothing of what is not kept", async () => {
    const staged = await store.stage(streamOf("draft"), { maxBytes: 10 });
    await staged.discard();
    expect(await server.requests()).toEqual([]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("tells what is missing and what is damaged", async () => {
    const { sha256 } = await put(store, Buffer.alloc(100_000));
    await server.write(`waybill/${sha256}`, Buffer.alloc(100_000, 1));
    await expect(get(store, sha256)).rejects.toThrow(ContentDamaged);
    await store.remove(sha256);
    await store.remove(sha256);
    expect(await store.has(sha256)).toBe(false);
    await expect(store.open(sha256)).rejects.toThrow(ContentMissing);
  });

  it("lists over pages, without what is not content", async () => {
    const contents = await Promise.all(Array.from({ length: 8 }, (_, index) => put(store, String(index))));
    await server.write("waybill/readme", Buffer.from("x"));
    await server.write(`other/${"a".repeat(64)}`, Buffer.from("x"));
    const listed: string[] = [];
    for await (const content of store.list()) {
      expect(content.size).toBe(1);
      expect(Math.abs(content.modified_at - Date.now() / 1000)).toBeLessThan(60);
      listed.push(content.sha256);
    }
    expect(listed).toEqual(contents.map((content) => content.sha256).sort());
    for (const each of [store, traceEvidence(store, untold)]) {
      const rest: string[] = [];
      for await (const { sha256 } of each.list(listed[2])) rest.push(sha256);
      expect(rest).toEqual(listed.slice(3));
    }
  });

  it("tries again when the service is busy, also uploads", async () => {
    await server.failNext("PUT", 2);
    const { sha256 } = await put(store, "persistent");
    await server.failNext("GET", 1);
    expect((await get(store, sha256)).toString()).toBe("persistent");
    await server.failNext("PUT", 3);
    await expect(put(store, "too much")).rejects.toThrow("SlowDown");
  });

  it("does not try again what is refused, and never shows the secret", async () => {
    for (const [changes, code] of [
      [{ accessKey: "unknown" }, "InvalidAccessKeyId"],
      [{ secretKey: "another secret" }, "SignatureDoesNotMatch"],
      [{ region: "eu-west-1" }, "AuthorizationHeaderMalformed"],
    ] as const) {
      await server.clear();
      const error = await put(storeWith(changes), "x").catch((cause: unknown) => cause);
      expect(String(error)).toContain(code);
      expect(JSON.stringify(error)).not.toMatch(/a secret|another secret/);
      expect(await server.requests()).toHaveLength(1);
    }
    await expect(storeWith({ bucket: "elsewhere" }).open("a".repeat(64))).rejects.toThrow("NoSuchBucket");
  });
});
