import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createFileStore } from "../../src/evidence/files.ts";
import {
  ContentDamaged,
  ContentMissing,
  ContentTooLarge,
  type EvidenceStore,
} from "../../src/evidence/store.ts";
import { get, put, streamOf, temporaryFolder } from "../support/evidence.ts";

let folder: ReturnType<typeof temporaryFolder>;
let store: EvidenceStore;
beforeEach(() => {
  folder = temporaryFolder();
  store = createFileStore(join(folder.path, "evidence"));
});
afterEach(() => folder.remove());

function pathOf(sha256: string): string {
  return join(folder.path, "evidence", sha256.slice(0, 2), sha256);
}

function incoming(): string[] {
  const path = join(folder.path, "evidence", "incoming");
  return existsSync(path) ? readdirSync(path) : [];
}

async function listed(after?: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { sha256 } of store.list(after)) found.push(sha256);
  return found;
}

describe("evidence as files", () => {
  it.each([0, 1, 65_536, 65_537, 3_000_000])("keeps %i bytes as they are", async (size) => {
    const bytes = randomBytes(size);
    const content = await put(store, bytes.subarray(0, size >> 1), bytes.subarray(size >> 1));
    expect(content).toEqual({ sha256: createHash("sha256").update(bytes).digest("hex"), size });
    expect(bytes.equals(await get(store, content.sha256))).toBe(true);
    expect(await store.has(content.sha256)).toBe(true);
    expect(incoming()).toEqual([]);
  });

  it("is private to the user it runs as", async () => {
    const { sha256 } = await put(store, "x");
    expect(statSync(pathOf(sha256)).mode & 0o077).toBe(0);
    expect(statSync(join(folder.path, "evidence")).mode & 0o077).toBe(0);
  });

  it("stores the same content once, however many send it at the same time", async () => {
    const bytes = randomBytes(100_000);
    const contents = await Promise.all(Array.from({ length: 8 }, () => put(store, bytes)));
    expect(new Set(contents.map((content) => content.sha256)).size).toBe(1);
    expect(await listed()).toEqual([contents[0]!.sha256]);
    expect(incoming()).toEqual([]);
  });

  it("has nothing of what is not kept", async () => {
    const staged = await store.stage(streamOf("draft"), { maxBytes: 10 });
    expect(staged.head.toString()).toBe("draft");
    expect(await store.has(staged.sha256)).toBe(false);
    await staged.discard();
    await staged.discard();
    expect(incoming()).toEqual([]);
    expect(await listed()).toEqual([]);
  });

  it("refuses a byte too many, and nothing remains", async () => {
    const atLimit = await store.stage(streamOf("12345", "67890"), { maxBytes: 10 });
    expect(atLimit.size).toBe(10);
    await atLimit.discard();
    await expect(store.stage(streamOf("12345", "678901"), { maxBytes: 10 })).rejects.toThrow(ContentTooLarge);
    expect(incoming()).toEqual([]);
  });

  it("leaves nothing of a stream that fails", async () => {
    const failing = Readable.from(
      (async function* () {
        yield Buffer.from("begun");
        throw new Error("gone");
      })(),
    );
    await expect(store.stage(failing, { maxBytes: 10 })).rejects.toThrow("gone");
    expect(incoming()).toEqual([]);
  });

  it.each<[string, (path: string) => void]>([
    ["changed", (path) => writeFileSync(path, Buffer.alloc(200_000, 7))],
    [
      "one byte changed at the end",
      (path) => writeFileSync(path, Buffer.concat([Buffer.alloc(199_999), Buffer.of(1)])),
    ],
    ["cut off", (path) => truncateSync(path, 70_000)],
    ["empty", (path) => truncateSync(path, 0)],
    ["longer", (path) => writeFileSync(path, Buffer.alloc(200_001))],
  ])("tells when a file is %s, before its last piece is out", async (_how, damage) => {
    const { sha256 } = await put(store, Buffer.alloc(200_000));
    damage(pathOf(sha256));
    const stream = await store.open(sha256);
    let received = 0;
    const reading = (async () => {
      for await (const chunk of stream) received += (chunk as Buffer).length;
    })();
    await expect(reading).rejects.toThrow(ContentDamaged);
    expect(received).toBeLessThan(200_000);
  });

  it("mends a damaged file when the content is sent again", async () => {
    const { sha256 } = await put(store, "content");
    writeFileSync(pathOf(sha256), "garbage");
    await put(store, "content");
    expect((await get(store, sha256)).toString()).toBe("content");
  });

  it("tells when a file is missing, and lets it be removed twice", async () => {
    const { sha256 } = await put(store, "content");
    await store.remove(sha256);
    await store.remove(sha256);
    expect(await store.has(sha256)).toBe(false);
    await expect(store.open(sha256)).rejects.toThrow(ContentMissing);
  });

  it("takes nothing but digests for addresses", async () => {
    for (const address of ["../../etc/passwd", "", "A".repeat(64), `${"a".repeat(64)}/..`]) {
      await expect(store.open(address)).rejects.toThrow("not an address");
      await expect(store.has(address)).rejects.toThrow("not an address");
      await expect(store.remove(address)).rejects.toThrow("not an address");
    }
  });

  it("lists content in order and nothing else", async () => {
    expect(await listed()).toEqual([]);
    const contents = await Promise.all(Array.from({ length: 20 }, (_, index) => put(store, String(index))));
    mkdirSync(join(folder.path, "evidence", "zz"));
    writeFileSync(join(folder.path, "evidence", contents[0]!.sha256.slice(0, 2), "note"), "not ours");
    const addresses = contents.map((content) => content.sha256).sort();
    expect(await listed()).toEqual(addresses);
    expect(await listed(addresses[7])).toEqual(addresses.slice(8));
  });

  it("removes unfinished uploads that are old enough", async () => {
    const old = await store.stage(streamOf("old"), { maxBytes: 10 });
    const [name] = incoming();
    const path = join(folder.path, "evidence", "incoming", name!);
    utimesSync(path, Date.now() / 1000 - 7200, Date.now() / 1000 - 7200);
    await store.stage(streamOf("young"), { maxBytes: 10 });
    expect(await store.removeAbandoned(3600)).toBe(1);
    expect(incoming()).toHaveLength(1);
    await expect(old.keep()).rejects.toThrow("ENOENT");
  });

  it.runIf(existsSync("/proc/self/fd"))("closes files that are opened and not read", async () => {
    const { sha256 } = await put(store, Buffer.alloc(300_000));
    const before = readdirSync("/proc/self/fd").length;
    for (let round = 0; round < 20; round += 1) {
      const stream = await store.open(sha256);
      stream.destroy();
      await new Promise((resolve) => stream.once("close", resolve));
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(readdirSync("/proc/self/fd").length).toBeLessThan(before + 5);
  });
});
