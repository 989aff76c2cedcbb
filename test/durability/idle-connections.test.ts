import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

import { expect, it } from "vitest";

import { type ServerProcess, startServer, withUsedDataDir } from "../support/server-process.ts";

const idle = Number(process.env["WAYBILL_TEST_IDLE"] ?? 400);
const limit = Math.floor(idle * 0.4);
/** Of connections past the limit, so many are told why before they are closed. */
const told = 64;
const headerSeconds = 4;

/** Asks on one connection that stays, or on a new one. */
async function ask(url: string, agent: Agent | false): Promise<{ status: number; body: string }> {
  const asked = request(url, { agent, timeout: 30_000 });
  asked.once("timeout", () => asked.destroy(new Error("no answer in time")));
  asked.end();
  const [answer] = await once(asked, "response");
  return { status: answer.statusCode, body: await text(answer) };
}

function memoryOf({ pid }: ServerProcess): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

const figure = (metrics: string, name: string): number =>
  Number(
    metrics
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")
      .at(-1),
  );

it.skipIf(process.platform !== "linux")(
  `${idle} connections that say nothing, or a letter at a time, are held to the limit and cut off`,
  { timeout: 300_000 },
  async () => {
    await withUsedDataDir(async (dataDir) => {
      const server = await startServer(dataDir, {
        WAYBILL_MAX_CONNECTIONS: String(limit),
        WAYBILL_HEADER_SECONDS: String(headerSeconds),
      });
      const { port } = new URL(server.url);
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const sockets = new Set<Socket>();
      try {
        const metrics = async (): Promise<string> => (await ask(`${server.url}/metrics`, agent)).body;
        // This one, and that of whoever asked whether it was ready, which may stay open for a while.
        const ours = figure(await metrics(), "waybill_connections");
        const before = memoryOf(server);
        let most = 0;
        for (let opened = 0; opened < idle; opened += 1) {
          const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
          sockets.add(socket);
          socket.once("close", () => sockets.delete(socket));
          if (opened % 2 === 0) socket.write("GET /live HTTP/1.1\r\nHost: x\r\n");
          if (opened % 100 === 99) most = Math.max(most, figure(await metrics(), "waybill_connections"));
        }
        const slow = setInterval(() => {
          for (const socket of sockets) if (socket.bytesWritten > 0 && socket.writable) socket.write("X");
        }, 500);
        // Whoever is connected is served meanwhile.
        for (let count = 0; count < 20; count += 1) {
          expect((await ask(`${server.url}/live`, agent)).status).toBe(200);
          most = Math.max(most, figure(await metrics(), "waybill_connections"));
          await delay(50);
        }
        expect(most).toBeGreaterThan(limit / 2);
        // Those that were closed count until the server has heard of it.
        expect(most).toBeLessThanOrEqual(limit + told + 20);
        const refused = figure(await metrics(), 'waybill_refused_connections_total{reason="all"}');
        expect(refused).toBeGreaterThan(0);
        const deadline = Date.now() + (headerSeconds + 60) * 1000;
        while (figure(await metrics(), "waybill_connections") > ours && Date.now() < deadline)
          await delay(100);
        clearInterval(slow);
        expect(figure(await metrics(), "waybill_connections")).toBeLessThanOrEqual(ours);
        expect((await ask(`${server.url}/live`, false)).status).toBe(200);
        const grown = memoryOf(server) - before;
        if (process.env["WAYBILL_TEST_IDLE"] !== undefined) console.log({ most, refused, grown });
        expect(grown).toBeLessThan(250);
        expect(await server.stop()).toBe(0);
      } finally {
        for (const socket of sockets) socket.destroy();
        agent.destroy();
      }
    });
  },
);
