import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

import Fastify, { type FastifyInstance } from "fastify";
import { Counter, Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { IntakeMetrics } from "./intake-metrics.ts";
import { limitPipelining } from "./pipelining.ts";

const most = 16;
const request = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";
const lastRequest = "GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
const stackTraceLimit = Error.stackTraceLimit;

let app: FastifyInstance;
/** Requests that came in the turn of the event loop that brought most of them, and in all. */
let mostInTurn: number;
let seen: number;
let clients: Socket[];
beforeEach(async () => {
  app = Fastify();
  const refusedRequests = new Counter({ name: "refused", help: "refused", registers: [new Registry()] });
  limitPipelining(app, most, { refusedRequests } as unknown as IntakeMetrics);
  app.get("/slow", () => setTimeout(1, "done"));
  [mostInTurn, seen, clients] = [0, 0, []];
  let inTurn = 0;
  app.server.prependListener("request", () => {
    seen += 1;
    inTurn += 1;
    if (inTurn === 1) setImmediate(() => ([mostInTurn, inTurn] = [Math.max(mostInTurn, inTurn), 0]));
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  await app.close();
});

function open(): Socket {
  const client = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => {});
  clients.push(client);
  return client;
}

/** Sends requests on new connections at the same moment. @returns all that is answered on each until it ends. */
async function send(count: number, requests: number): Promise<string[]> {
  const opened = Array.from({ length: count }, open);
  while ((await connections()) < count) await setTimeout(1);
  const text = request.repeat(requests - 1) + lastRequest;
  return Promise.all(
    opened.map(async (client) => {
      let answers = "";
      client.setEncoding("latin1").on("data", (chunk: string) => (answers += chunk));
      client.write(text);
      await once(client, "close");
      return answers;
    }),
  );
}

const connections = (): Promise<number> => promisify(app.server.getConnections.bind(app.server))();
const statuses = (answers: string): string[] => answers.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];

describe("requests that come without waiting for answers", () => {
  it("are read of few connections in one turn of the event loop, and all answered", async () => {
    for (const answers of await send(300, most)) expect(statuses(answers)).toEqual(Array(most).fill("200"));
    expect(seen).toBe(300 * most);
    // Those that make it too much, and what else came of that connection.
    expect(mostInTurn).toBeLessThan(256 + 300 + most);
  });

  it("are read a chunk at a time when there are thousands", async () => {
    await send(5, 10_000);
    expect(seen).toBeGreaterThan(5 * most);
    expect(mostInTurn).toBeLessThan((2 * 65_536) / request.length);
  });

  it("leave nothing behind when their connection ends first", async () => {
    const client = open();
    client.write(request.repeat(most));
    await vi.waitFor(() => expect(seen).toBe(most));
    client.resetAndDestroy();
    while ((await connections()) > 0) await setTimeout(5);
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });
});
