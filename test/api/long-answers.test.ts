import { once } from "node:events";
import { get } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { withArtifacts } from "../support/many-artifacts.ts";
import { listen, request } from "../support/sockets.ts";
import { amount } from "../support/thorough.ts";

/** Long enough for a machine that is busy, short enough to wait for. */
const stallSeconds = 2;

let app: TestApp;
let org: TestOrg;
let port: number;
let path: string;
beforeAll(async () => {
  app = await startTestApp({ WAYBILL_SEND_STALL_SECONDS: String(stallSeconds) });
  org = await app.org({ public: true });
  // Some 16 MB, more than the kernel takes on behalf of a client.
  await withArtifacts(app, org, { artifacts: 2500, rules: 4, name: `web-${"x".repeat(3000)}` });
  path = `/snapshots/${org.name}/prod/-1`;
  port = await listen(app);
}, 120_000);
afterAll(() => app.close());

const url = (): string => `http://127.0.0.1:${port}/api/v2${path}`;

async function metric(name: string, { server } = app): Promise<number> {
  const answer = await server.inject({ url: "/metrics" });
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(answer.body)?.[1]);
}

const active = (): Promise<number> => metric("waybill_http_long_answers_active");

/** Lets the reading of the artifacts of a snapshot fail from a number of parts on. @returns how many were read. */
function failAt(part: number) {
  const { db } = app.deps;
  const original = db.all;
  let parts = 0;
  const spy = vi.spyOn(db, "all").mockImplementation(async (query) => {
    if (query.name === "snapshot-documents") parts += 1;
    if (parts >= part) throw new Error("the disk is on fire");
    return original(query);
  });
  return { count: () => parts, end: () => spy.mockRestore() };
}

describe("a long answer", () => {
  it("arrives whole, without a length", async () => {
    const response = await fetch(url());
    expect([response.status, response.headers.get("content-length")]).toEqual([200, null]);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const sent = await response.json();
    const injected = await org.reader.get(path);
    expect(sent).toEqual(injected.json);
    expect(injected.json.artifacts).toHaveLength(2500);
    expect(injected.text.length).toBeGreaterThan(12_000_000);
  });

  it("answers HEAD with its headers alone", async () => {
    const response = await fetch(url(), { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(await active()).toBe(0);
  });

  it("breaks off when something fails in the middle, and the log says why", async () => {
    const failing = failAt(3);
    const response = await fetch(url());
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
    failing.end();
    expect(app.logged()).toContain("response broke off");
    expect(app.logged()).toContain("the disk is on fire");
    expect(await active()).toBe(0);
  });

  it("is an error like others when something fails before its first piece", async () => {
    const failing = failAt(1);
    const response = await fetch(url());
    expect([response.status, await response.json()]).toEqual([500, { message: "Internal error" }]);
    failing.end();
  });

  it("stops being made when the client goes away, and leaves no connection of the database taken", async () => {
    const reading = failAt(Infinity);
    const call = get(url());
    const [response] = await once(call, "response");
    await once(response, "data");
    response.on("error", () => undefined);
    call.destroy();
    await vi.waitFor(async () => expect(await active()).toBe(0), { timeout: 10_000 });
    const soFar = reading.count();
    const { pool } = app.deps.db;
    await vi.waitFor(() => expect(pool.idleCount).toBe(pool.totalCount), { timeout: 10_000 });
    await delay(100);
    expect(reading.count()).toBe(soFar);
    // 2,500 artifacts are ten parts at least.
    expect(soFar).toBeLessThan(10);
    reading.end();
  });
});

describe("clients that do not read", () => {
  it("take no connection of the database, and are cut off", async () => {
    const cutOff = await metric("waybill_http_stalled_clients_total");
    const sockets = await Promise.all(Array.from({ length: 24 }, () => request(port, path)));
    await vi.waitFor(async () => expect(await active()).toBe(24), { timeout: 30_000 });
    const { pool } = app.deps.db;
    await vi.waitFor(() => expect(pool.idleCount).toBe(pool.totalCount), { timeout: 10_000 });
    expect((await org.reader.get(`/snapshots/${org.name}/prod`)).status).toBe(200);
    await vi.waitFor(async () => expect(await active()).toBe(0), { timeout: 60_000, interval: 100 });
    expect(await metric("waybill_http_stalled_clients_total")).toBe(cutOff + 24);
    expect(app.logged()).toContain("client takes nothing of its answer and is cut off");
    for (const socket of sockets) socket.destroy();
  }, 120_000);

  it("wait for their turn when there are many, and leave room for others", async () => {
    // All have to be there before the first is given up, however long a busy machine takes to get to them.
    const patient = await startTestApp({ WAYBILL_SEND_STALL_SECONDS: "8" }, { beside: app });
    const there = await listen(patient);
    const activeThere = () => metric("waybill_http_long_answers_active", patient);
    const waitingThere = () => metric("waybill_http_long_answers_waiting", patient);
    const sockets = await Promise.all(Array.from({ length: 40 }, () => request(there, path)));
    await vi.waitFor(async () => expect(await waitingThere()).toBe(8), { timeout: 30_000 });
    expect(await activeThere()).toBe(32);
    const response = await fetch(`http://127.0.0.1:${there}/api/v2${path}`, {
      headers: { authorization: `Bearer ${org.reader.key}` },
    });
    expect(((await response.json()) as { artifacts: unknown[] }).artifacts).toHaveLength(2500);
    // That they are cut off has been seen; those that waited would be so after as long again.
    for (const socket of amount(sockets, [])) socket.destroy();
    const gone = async () => expect((await activeThere()) + (await waitingThere())).toBe(0);
    await vi.waitFor(gone, { timeout: 60_000, interval: 100 });
    for (const socket of sockets) socket.destroy();
    await patient.close();
  }, 120_000);

  it("are not those that read slowly", async () => {
    const socket = await request(port, path);
    let bytes = 0;
    for (const end = Date.now() + 3 * stallSeconds * 1000; Date.now() < end;) {
      bytes += (socket.read() as Buffer | null)?.length ?? 0;
      await delay(50);
    }
    expect([socket.destroyed, socket.readableEnded]).toEqual([false, false]);
    expect(bytes).toBeGreaterThan(0);
    socket.destroy();
  }, 60_000);
});
