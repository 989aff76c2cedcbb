import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { mebibyte } from "../../src/lib/units.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { get } from "../support/evidence.ts";
import { type Receipt, startUploadServer } from "../support/evidence-server.ts";

let app: TestApp;
let server: Awaited<ReturnType<typeof startUploadServer>>;
beforeAll(async () => {
  app = await startTestApp();
  server = await startUploadServer(app.deps);
});
afterAll(async () => {
  await server.stop();
  await app.close();
});

function incoming(): string[] {
  const path = join(app.deps.config.evidence.dir, "incoming");
  return existsSync(path) ? readdirSync(path) : [];
}

/** Whatever a request was, nothing half-received stays. */
async function nothingLeft(): Promise<void> {
  for (let tries = 0; incoming().length > 0 && tries < 200; tries += 1) await delay(10);
  expect(incoming()).toEqual([]);
}
afterEach(nothingLeft);

const boundary = "waybill-upload";
const lineEnd = Buffer.from("\r\n");

function field(value: string, headers = ""): Buffer {
  return Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="data_json"\r\n${headers}\r\n${value}\r\n`,
  );
}

/** A part that nobody asked for and that is no file. */
function other(value: string | Buffer, type = "application/json"): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="x"\r\nContent-Type: ${type}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(value), lineEnd]);
}

function fileHead(name = "attachment_file", filename = "sbom.json"): Buffer {
  return Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
}

const end = Buffer.from(`--${boundary}--\r\n`);

function open(port = server.port): {
  sending: ClientRequest;
  answer: Promise<{ status: number; text: string }>;
} {
  const sending = request({
    host: "127.0.0.1",
    port,
    method: "POST",
    path: "/api/v2/upload",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
  });
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    sending.once("error", reject);
    sending.once("response", (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, text: body }), reject);
    });
  });
  return { sending, answer };
}

function upload(...chunks: Buffer[]): Promise<{ status: number; text: string }> {
  const { sending, answer } = open();
  for (const chunk of chunks) sending.write(chunk);
  sending.end();
  return answer;
}

function receipt(answer: { status: number; text: string }): Receipt {
  expect(answer.status, answer.text).toBe(201);
  return JSON.parse(answer.text) as Receipt;
}

const keep = field('{"outcome":"keep"}');

describe("a file part that is evidence", () => {
  it("is stored byte for byte, whether it comes before or after the JSON field", async () => {
    const bytes = randomBytes(3 * mebibyte + 17);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const after = receipt(await upload(keep, fileHead(), bytes, lineEnd, end));
    const before = receipt(await upload(fileHead(), bytes, lineEnd, keep, end));
    expect(after).toMatchObject({ filename: "sbom.json", sha256, size: bytes.length });
    expect(before).toEqual(after);
    expect(bytes.equals(await get(app.deps.evidence, sha256))).toBe(true);
  });

  it("counts in the digest of the request as the digest of its bytes", async () => {
    const bytes = Buffer.from("content");
    const { digest } = receipt(await upload(keep, fileHead(), bytes, lineEnd, end));
    const expected = createHash("sha256")
      .update('{"outcome":"keep"}')
      .update(createHash("sha256").update(bytes).digest());
    expect(digest).toBe(expected.digest("hex"));
  });

  it("has a name that is safe to show and a media type by its bytes", async () => {
    const gzip = Buffer.from([0x1f, 0x8b, 0x08, 0, 1]);
    const answer = await upload(
      keep,
      fileHead("attachment_file", "../../etc/\u202epasswd"),
      gzip,
      lineEnd,
      end,
    );
    expect(receipt(answer)).toMatchObject({ filename: "passwd", content_type: "application/gzip" });
  });

  it.each(["application/json", "application/json; charset=utf-8", "text/plain", "text/plain; charset=utf-8"])(
    "takes the JSON field with a media type, as generated clients send it: %s",
    async (type) => {
      const data = '{"outcome": "keep"}';
      const typed = field(data, `Content-Type: ${type}\r\n`);
      const { size, digest } = receipt(await upload(typed, fileHead(), Buffer.from("x"), lineEnd, end));
      const file = createHash("sha256").update("x").digest();
      expect([size, digest]).toEqual([1, createHash("sha256").update(data).update(file).digest("hex")]);
      const broken = await upload(field("{", `Content-Type: ${type}\r\n`), end);
      expect([broken.status, broken.text]).toEqual([400, expect.stringContaining("Invalid JSON")]);
      // Beside a field, which is not read alone.
      expect((await upload(typed, other("x"), end)).status).toBe(200);
    },
  );

  it("is gone when the handler does not want it, refuses, or the body is not valid", async () => {
    const file = [fileHead(), randomBytes(200_000), lineEnd];
    expect((await upload(field('{"outcome":"ignore"}'), ...file, end)).status).toBe(200);
    expect((await upload(field('{"outcome":"fail"}'), ...file, end)).text).toContain("The handler refuses");
    expect((await upload(...file, field('{"outcome":"unheard of"}'), end)).status).toBe(400);
    expect((await upload(...file, field("{"), end)).text).toContain("Invalid JSON");
    expect((await upload(...file, end)).text).toContain("Field required");
    await nothingLeft();
    let stored = 0;
    for await (const content of app.deps.evidence.list()) if (content.size === 200_000) stored += 1;
    expect(stored).toBe(0);
  });

  it("may have exactly as many bytes as the limit says, and the client of a larger one reads why", async () => {
    const limit = Buffer.alloc(10 * mebibyte, 1);
    expect(receipt(await upload(keep, fileHead(), limit, lineEnd, end)).size).toBe(limit.length);
    for (const extra of [1, 20 * mebibyte]) {
      const answer = await upload(keep, fileHead(), limit, Buffer.alloc(extra, 2), lineEnd, end);
      expect(answer).toMatchObject({ status: 413 });
      expect(JSON.parse(answer.text)).toEqual({ message: "File size exceeds 10MB limit" });
    }
  });

  it("may be sent once only; others are dropped; those in memory keep their own limit", async () => {
    const file = [fileHead(), Buffer.from("x"), lineEnd];
    const twice = await upload(keep, ...file, ...file, end);
    expect(twice.status).toBe(400);
    expect(twice.text).toContain("Only one file may be sent here");
    const other = [fileHead("constructor"), fileHead("other")];
    expect((await upload(keep, ...file, other[1]!, Buffer.alloc(100_000), lineEnd, end)).status).toBe(201);
    expect((await upload(keep, ...file, other[0]!, Buffer.alloc(10), lineEnd, end)).status).toBe(400);
    const small = await upload(keep, ...file, fileHead("small_file"), Buffer.alloc(1001), lineEnd, end);
    expect(small).toMatchObject({ status: 413, text: '{"message":"The small file is too large"}' });
  });

  it("leaves nothing when the client goes away or the body ends early", async () => {
    const { sending, answer } = open();
    sending.write(keep);
    sending.write(fileHead());
    sending.write(randomBytes(mebibyte));
    for (let tries = 0; incoming().length === 0 && tries < 500; tries += 1) await delay(5);
    expect(incoming()).toHaveLength(1);
    sending.destroy();
    await expect(answer).rejects.toThrow("socket hang up");
    await nothingLeft();
    expect((await upload(keep, fileHead(), randomBytes(1000))).status).toBe(400);
  });
});

describe("parts that nobody asked for", () => {
  const ignore = field('{"outcome":"ignore"}');
  const types = ["application/json", "application/json; charset=utf-8", "text/plain"];

  it.each(types)("are dropped, whatever they say they are: %s", async (type) => {
    for (const value of ["{", '{"__proto__":{}}', "", Buffer.from([0xff, 0xfe])])
      expect((await upload(ignore, other(value, type), end)).text).toBe('"OK"');
    const values = Array.from({ length: 23 }, (_, at) => other(String(at), type));
    expect((await upload(...values, ignore, end)).status).toBe(200);
    const more = await upload(...values, other("", type), ignore, end);
    expect(more).toEqual({ status: 413, text: '{"message":"Request body has too many parts"}' });
  });
});

describe("a file that is refused while it arrives", () => {
  /** Bytes of bodies that one address may have in memory. */
  const share = mebibyte;
  let narrow: Awaited<ReturnType<typeof startUploadServer>>;
  beforeAll(async () => {
    const { config } = app.deps;
    const intake = { ...config.intake, strangerBodyBytesPerAddress: share };
    narrow = await startUploadServer({ ...app.deps, config: { ...config, intake } });
  });
  afterAll(() => narrow.stop());

  async function inMemory(): Promise<number> {
    const metrics = await (await fetch(`http://127.0.0.1:${narrow.port}/metrics`)).text();
    return Number(/^waybill_body_bytes\{of="strangers"\} (\d+)$/m.exec(metrics)?.[1]);
  }

  /** Names of half-received files that this process has open, whether they are still in their folder or not. */
  function held(): string[] {
    const opened = readdirSync("/proc/self/fd").map((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`);
      } catch {
        return "";
      }
    });
    return opened.filter((path) => path.includes(".part"));
  }

  it.runIf(existsSync("/proc/self/fd"))("is gone when the answer comes, and nothing holds it", async () => {
    const file = open(narrow.port);
    file.sending.write(Buffer.concat([keep, fileHead(), randomBytes(100_000)]));
    for (let tries = 0; incoming().length === 0 && tries < 500; tries += 1) await delay(5);
    expect([incoming().length, held().length]).toEqual([1, 1]);
    // A field of another request, which stays in memory, leaves no room.
    const large = open(narrow.port);
    const gone = large.answer.catch(() => undefined);
    const begun = field(" ".repeat(share)).subarray(0, share - 5_000);
    large.sending.write(begun);
    for (let tries = 0; !((await inMemory()) > begun.length) && tries < 500; tries += 1) await delay(5);
    file.sending.write(randomBytes(60_000));
    file.sending.end(Buffer.concat([lineEnd, end]));
    expect((await file.answer).status).toBe(503);
    expect([incoming(), held()]).toEqual([[], []]);
    large.sending.destroy();
    await gone;
  });
});

describe("memory", () => {
  const piece = randomBytes(65_536);
  const count = 8;

  async function send(sending: ClientRequest, bytes: number): Promise<void> {
    for (let sent = 0; sent < bytes; sent += piece.length)
      if (!sending.write(piece)) await new Promise((resolve) => sending.once("drain", resolve));
  }

  /** What is in use; without the garbage that nobody has collected yet. */
  async function buffersInUse(): Promise<number> {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    // What finalizers let go is collected the next time.
    for (let round = 0; round < 4; round += 1) {
      collect();
      await delay(10);
    }
    return process.memoryUsage().arrayBuffers;
  }

  function received(): number {
    const path = join(app.deps.config.evidence.dir, "incoming");
    return incoming().reduce((total, name) => total + statSync(join(path, name)).size, 0);
  }

  it("does not grow with what is uploaded: eight files of 10 MB at once", async () => {
    receipt(await upload(keep, fileHead(), piece, lineEnd, end));
    const before = await buffersInUse();
    const uploads = Array.from({ length: count }, () => open());
    for (const { sending } of uploads) sending.write(Buffer.concat([keep, fileHead()]));
    await Promise.all(uploads.map(({ sending }) => send(sending, 9 * mebibyte)));
    for (let tries = 0; received() < count * 8 * mebibyte && tries < 2000; tries += 1) await delay(5);
    expect(received()).toBeGreaterThanOrEqual(count * 8 * mebibyte);
    // Client and server share this process. Either of them holding the files would take 72 MB.
    expect((await buffersInUse()) - before).toBeLessThan(2 * count * mebibyte);
    await Promise.all(uploads.map(({ sending }) => send(sending, mebibyte)));
    for (const { sending } of uploads) sending.end(Buffer.concat([lineEnd, end]));
    for (const { answer } of uploads) expect(receipt(await answer).size).toBe(10 * mebibyte);
  });
});
