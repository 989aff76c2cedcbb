import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { IntakeLimits } from "../config-limits.ts";
import { EventStream } from "../contract/event-stream.ts";
import { silentLog } from "../lib/log.ts";
import { mebibyte } from "../lib/units.ts";
import type { Metrics } from "../modules/kernel/metrics.ts";
import { registerBodyParsers } from "./body.ts";
import { registerClientAddress } from "./client-address.ts";
import { registerDraining } from "./draining.ts";
import { createIntakeMetrics } from "./intake-metrics.ts";
import { registerIntake } from "./intake.ts";
import { registerLargeBodies } from "./large-bodies.ts";
import { limitPipelining } from "./pipelining.ts";
import { EventSender } from "./send-events.ts";

const limits = {
  pipelined: 16,
  stallSeconds: 5,
  bodyRate: 0,
  bodySeconds: 60,
  unreadSeconds: 1,
  bodyBytes: 100 * mebibyte,
  bodyBytesPerCaller: 100 * mebibyte,
  strangerBodyBytes: 100 * mebibyte,
  strangerBodyBytesPerAddress: 100 * mebibyte,
} as IntakeLimits;

let app: FastifyInstance;
let registry: Registry;
/** Requests that a route or a hook has seen, and those that it is done with. */
let seen: number;
let done: number;
let clients: Socket[];

/** Goes on when the connection of a request has ended, and all who want to know of it were told. */
async function untilGone({ raw }: FastifyReply): Promise<void> {
  seen += 1;
  if (!raw.closed) await once(raw, "close");
  await delay(1);
}

beforeEach(async () => {
  [seen, done, clients, registry] = [0, 0, [], new Registry()];
  app = Fastify({ bodyLimit: 12 * mebibyte });
  registerClientAddress(app);
  const metrics = createIntakeMetrics(registry);
  limitPipelining(app, limits.pipelined, metrics);
  registerDraining(app);
  registerIntake(app, limits, metrics);
  registerLargeBodies(app);
  registerBodyParsers(app);
  app.get("/live", () => "ok");
  app.post("/held", async (_request, reply) => {
    await untilGone(reply);
    done += 1;
    throw new Error("Nobody reads this");
  });
  app.post("/refused", () => {
    done += 1;
    throw new Error("Not so");
  });
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  await app.close();
});

/** Listens, when all routes are there. */
async function open(text: string, then?: (client: Socket) => void): Promise<Socket> {
  if (!app.server.listening) await app.listen({ host: "127.0.0.1", port: 0 });
  const client = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => {}).resume();
  clients.push(client);
  client.write(text, () => then?.(client));
  return client;
}

function post(path: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function figure(name: string): Promise<number> {
  const line = (await registry.metrics()).split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1));
}

const held = (): Promise<number> => figure('waybill_body_bytes{of="strangers"}');

describe("a client that goes away", () => {
  it.each([
    ["alone", ""],
    ["behind another request", "GET /live HTTP/1.1\r\nHost: x\r\n\r\n"],
  ])("gives back the memory of a body that came %s", async (_how, before) => {
    const body = JSON.stringify({ key: "x" }) + " ".repeat(10_000);
    for (let count = 1; count <= 3; count += 1) {
      const client = await open(before + post("/held", body));
      await vi.waitFor(() => expect(seen).toBe(count));
      expect(await held()).toBe(body.length);
      client.resetAndDestroy();
      await vi.waitFor(() => expect(done).toBe(count));
      expect(await held()).toBe(0);
    }
  });

  it("takes no memory for a body that is looked at afterwards", async () => {
    app.post("/late", {
      onRequest: async (request, reply) => {
        await untilGone(reply);
        const reception = app.intake.begin(request, () => {});
        reception.arrived(1_000);
        reception.end();
        done += 1;
      },
      handler: () => "ok",
    });
    const client = await open(post("/late", "{}"));
    await vi.waitFor(() => expect(seen).toBe(1));
    client.resetAndDestroy();
    await vi.waitFor(() => expect(done).toBe(1));
    expect(await held()).toBe(0);
  });

  it.each<[string, (client: Socket) => void]>([
    ["and ends its side", (client) => client.end()],
    ["and closes", (client) => client.destroy()],
  ])("has sent a very large body %s, and keeps nobody from reading such", async (_how, leave) => {
    const body = JSON.stringify("x".repeat(2 * mebibyte));
    for (let count = 1; count <= 3; count += 1)
      await once(await open(post("/refused", body), leave), "close");
    await vi.waitFor(async () => expect(await held()).toBe(0));
    const before = done;
    await open(post("/refused", body));
    await vi.waitFor(() => expect(done).toBe(before + 1), { timeout: 10_000 });
  });

  it("gives back its place among those that listen to events", async () => {
    const metrics = { registry } as unknown as Metrics;
    const events = new EventSender(app, { metrics, log: silentLog });
    let closed = 0;
    const stream = new EventStream(async () => ({ position: () => "1", close: () => (closed += 1) }));
    app.get("/events", async (request: FastifyRequest, reply) => {
      await untilGone(reply);
      return events.send(request, reply, { headers: {} }, stream);
    });
    const client = await open("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    await vi.waitFor(() => expect(seen).toBe(1));
    client.resetAndDestroy();
    await vi.waitFor(() => expect(closed).toBeGreaterThan(0));
    expect(await figure("waybill_http_event_streams")).toBe(0);
  });
});
