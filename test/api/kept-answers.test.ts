import { once } from "node:events";
import { get } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";

import { noticeSilence } from "../../src/modules/runtime/silence/watch-service.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import type { Client } from "../support/client.ts";
import { createEnvironment } from "../support/environments.ts";
import { reportServer } from "../support/snapshots.ts";
import { listen } from "../support/sockets.ts";

/** A server that writes, and another one that is asked. */
let writing: TestApp;
let app: TestApp;
let port: number;
beforeAll(async () => {
  writing = await startTestApp();
  app = await startTestApp({}, { beside: writing });
  port = await listen(app);
});
afterAll(async () => {
  await app.close();
  await writing.close();
});

let org: TestOrg;
let guest: TestUser;
let asked: Client;
beforeEach(async () => {
  org = await writing.org();
  guest = await writing.user();
  await org.admin.put(`/members/${org.name}/${guest.name}`, { role: "member" });
  asked = app.as(guest.key);
  for (let count = 0; count < 3; count += 1) await createEnvironment(org, `env-${count}`, { type: "server" });
});

const list = (): string => `/environments/${org.name}?per_page=5`;

/** Asks often enough that who asks and what is answered are remembered. */
async function askAgain(client: Client, path = list()): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await client.get(path)).status);
  return statuses;
}

const fine = [200, 200, 200, 200];

describe("who may not read any more", () => {
  it("is refused at once when the key is revoked", async () => {
    const key = (await writing.as(guest.key).post("/user/api-keys", { description: "x" })).json;
    const client = app.as(key.key);
    expect(await askAgain(client)).toEqual(fine);
    expect((await writing.as(guest.key).delete(`/user/api-keys/${key.id}`)).status).toBe(200);
    expect((await client.get(list())).status).toBe(401);
    expect((await asked.get(list())).status).toBe(200);
  });

  it("is refused at once when the key ends by itself", async () => {
    const expires_at = Math.floor(writing.clock.now()) + 60;
    const key = (await writing.as(guest.key).post("/user/api-keys", { description: "x", expires_at })).json;
    const client = app.as(key.key);
    expect(await askAgain(client)).toEqual(fine);
    writing.clock.advance(61);
    expect((await client.get(list())).status).toBe(401);
  });

  it("is refused at once when no longer a member", async () => {
    expect(await askAgain(asked)).toEqual(fine);
    expect((await org.admin.delete(`/members/${org.name}/${guest.name}`)).status).toBe(200);
    expect((await asked.get(list())).status).toBe(403);
  });

  it("may do no more than the role of now, though what all roles may read is kept", async () => {
    expect(await askAgain(asked)).toEqual(fine);
    await org.admin.put(`/members/${org.name}/${guest.name}`, { role: "reader" });
    expect((await asked.get(list())).status).toBe(200);
    const refused = await asked.patch(`/environments/${org.name}/env-0`, { description: "x" });
    expect(refused.status).toBe(403);
  });

  it("is refused at once when the organization is made private", async () => {
    await org.admin.patch(`/organizations/${org.name}`, { public: true });
    expect(await askAgain(app.anonymous)).toEqual(fine);
    await org.admin.patch(`/organizations/${org.name}`, { public: false });
    expect((await app.anonymous.get(list())).status).toBe(401);
  });

  it("gets nothing of another organization under the same path", async () => {
    const other = await writing.org();
    const path = `/spaces/${org.name}`;
    await org.admin.post(`/spaces/${org.name}`, { name: "hidden" });
    expect(await askAgain(asked, path)).toEqual(fine);
    const foreign = await app.as(other.admin.key!).get(path);
    expect([foreign.status, foreign.text.includes("hidden")]).toEqual([403, false]);
    expect((await app.as(other.admin.key!).get(`/spaces/${other.name}`)).text).not.toContain("hidden");
  });
});

describe("what is shown of the time", () => {
  it("is no more than a second old", async () => {
    await createEnvironment(org, "watched", { type: "server" });
    await org.admin.put(`/environments/${org.name}/watched/silence`, { limit_seconds: 600 });
    await reportServer(org, "watched", ["web"]);
    await noticeSilence(writing.deps);
    const path = `/environments/${org.name}/watched/silence`;
    const before = (await asked.get(path)).json;
    expect(before.is_stale).toBe(false);
    // Nobody writes anything meanwhile.
    writing.clock.advance(601);
    expect((await asked.get(path)).json.is_stale).toBe(true);
  });
});

interface Received {
  status: number | undefined;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

async function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Received> {
  const authorization = `Bearer ${guest.key}`;
  const request = { host: "127.0.0.1", port, path: `/api/v2${path}`, method };
  const [answer] = await once(get({ ...request, headers: { authorization, ...headers } }), "response");
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(pieces) };
}

describe("an answer that is kept", () => {
  it("is told to be unchanged, until it is", async () => {
    await askAgain(asked);
    const first = await ask(list(), { "if-none-match": "none" });
    const etag = String(first.headers["etag"]);
    for (let count = 0; count < 2; count += 1) {
      const again = await ask(list(), { "if-none-match": etag });
      expect([again.status, again.bytes.length, again.headers["etag"]]).toEqual([304, 0, etag]);
    }
    await org.admin.patch(`/environments/${org.name}/env-0`, { description: "other" });
    const changed = await ask(list(), { "if-none-match": etag });
    expect([changed.status, changed.headers["etag"] === etag]).toEqual([200, false]);
    expect(changed.bytes.toString()).toContain("other");
  });

  it("has the tag that it has where none is kept", async () => {
    const without = await startTestApp({ WAYBILL_KEPT_ANSWER_BYTES: "0" }, { beside: writing });
    try {
      const headers = { "if-none-match": "none" };
      await askAgain(asked);
      const [kept, made] = [
        await asked.request("GET", list(), { headers }),
        await without.as(guest.key).request("GET", list(), { headers }),
      ];
      expect(made.headers["etag"]).toBeDefined();
      const compared = ["etag", "content-type", "content-length", "vary", "cache-control"];
      const of = (headers_: typeof kept.headers) => compared.map((name) => headers_[name]);
      expect([of(kept.headers), kept.text]).toEqual([of(made.headers), made.text]);
    } finally {
      await without.close();
    }
  });

  it("answers HEAD with its length and nothing else", async () => {
    await askAgain(asked);
    const whole = await ask(list());
    const head = await ask(list(), {}, "HEAD");
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    expect(head.headers["content-length"]).toBe(String(whole.bytes.length));
  });

  it("is compressed for who takes that, the second time as the first", async () => {
    await askAgain(asked);
    const plain = await ask(list());
    expect(plain.bytes.length).toBeGreaterThan(1024);
    for (let count = 0; count < 2; count += 1) {
      const br = await ask(list(), { "accept-encoding": "br" });
      const gzip = await ask(list(), { "accept-encoding": "gzip" });
      expect([br.headers["content-encoding"], gzip.headers["content-encoding"]]).toEqual(["br", "gzip"]);
      expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true);
      expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
      expect((await ask(list())).headers["content-encoding"]).toBeUndefined();
    }
  });

  it("is not given to who wants a table, nor a table to who does not", async () => {
    const trails = `/trails/${org.name}`;
    for (let count = 0; count < 2; count += 1) {
      expect((await ask(trails)).headers["content-type"]).toMatch(/^application\/json/);
      const table = await ask(trails, { accept: "text/csv" });
      expect(table.headers["content-type"]).toMatch(/^text\/csv/);
      expect(table.bytes.toString()).not.toContain("{");
    }
  });

  // On Citus none is kept.
  it.skipIf(inject("cluster"))("is made once for all who ask for it at the same time", async () => {
    let made = 0;
    const pool = app.deps.db.pool;
    const count = (): void => void (made += 1);
    // Lists of spaces are read on a connection of the pool's.
    const path = `/spaces/${org.name}`;
    await askAgain(asked);
    await org.admin.post(`/spaces/${org.name}`, { name: "one" });
    pool.on("acquire", count);
    const answers = await Promise.all(Array.from({ length: 8 }, () => asked.get(path)));
    pool.off("acquire", count);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]!.text).toContain("one");
    expect(made).toBe(1);
  });
});

describe("a long answer with a version", () => {
  it("is given again while nothing in it has changed, though other things have", async () => {
    const running = Array.from({ length: 60 }, (_, at) => `image-${at}-${"x".repeat(4000)}`);
    await createEnvironment(org, "large", { type: "server" });
    await reportServer(org, "large", running);
    const path = `/snapshots/${org.name}/large/-1`;
    const first = await asked.get(path);
    expect(first.text.length).toBeGreaterThan(256 * 1024);
    await org.admin.post(`/spaces/${org.name}`, { name: "unrelated" });
    for (const text of [(await asked.get(path)).text, (await asked.get(path)).text])
      expect(text === first.text).toBe(true);
    const br = await ask(path, { "accept-encoding": "br" });
    expect(brotliDecompressSync(br.bytes).toString() === first.text).toBe(true);
    await reportServer(org, "large", [...running, "one-more"]);
    expect((await asked.get(path)).text).toContain("one-more");
  });
});
