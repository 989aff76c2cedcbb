import { createConnection } from "node:net";
import { once } from "node:events";

import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { withArtifacts } from "../support/many-artifacts.ts";
import { listen } from "../support/sockets.ts";

let app: TestApp;
let org: TestOrg;
let port: number;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org({ public: true });
  await withArtifacts(app, org, { artifacts: 10_000, rules: 50 });
  port = await listen(app);
}, 240_000);
afterAll(() => app.close());

/** Reads an answer and forgets it. @returns how many bytes there were. */
async function drain(path: string): Promise<number> {
  const socket = createConnection(port, "127.0.0.1");
  let bytes = 0;
  let last = "";
  socket.on("data", (chunk) => {
    bytes += chunk.length;
    last = chunk.subarray(-5).toString("latin1");
  });
  socket.write(`GET /api/v2${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await once(socket, "close");
  expect(last).toBe("0\r\n\r\n");
  return bytes;
}

/**
 * The longest that the program kept the event loop, in milliseconds of its own processor time, and how much more memory
 * it took than before. What other programs do on the machine does not count.
 */
async function measured(work: () => Promise<unknown>): Promise<{ hold: number; memory: number }> {
  const before = process.memoryUsage.rss();
  const result = { hold: 0, memory: 0 };
  let isOn = true;
  let last = process.cpuUsage();
  const look = (): void => {
    const { user, system } = process.cpuUsage(last);
    last = process.cpuUsage();
    result.hold = Math.max(result.hold, (user + system) / 1000);
    result.memory = Math.max(result.memory, process.memoryUsage.rss() - before);
    if (isOn) setTimeout(look, 1);
  };
  look();
  await work();
  isOn = false;
  return result;
}

it.each([
  ["snapshot", 100_000_000, () => `/snapshots/${org.name}/prod/-1`],
  ["explanation", 200_000_000, () => `/environments/${org.name}/prod/explain`],
])(
  "keeps nobody waiting and takes little memory: %s of 10,000 artifacts by 50 rules",
  async (_name, bytes, path) => {
    const readers = [path(), path()];
    const { hold, memory } = await measured(async () => {
      for (const read of await Promise.all(readers.map(drain))) expect(read).toBeGreaterThan(bytes);
    });
    // Seconds, and more than a gigabyte, when they are made in one piece. The processor time is also that of the client and
    // of collecting garbage on other threads.
    expect(hold).toBeLessThan(250);
    expect(memory).toBeLessThan(400 * 1024 * 1024);
  },
  300_000,
);
