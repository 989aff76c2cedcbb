import { createConnection } from "node:net";
import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

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

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes that are held: what a garbage collector that lags behind on a busy machine would leave does not count. */
function held(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Calls something every so often while work is under way, which goes on for at least as long in between as it is interrupted. */
async function meanwhile(everyMs: number, look: () => void, work: () => Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout;
  const lookAfter = (pauseMs: number): void => {
    timer = setTimeout(() => {
      const begun = performance.now();
      look();
      lookAfter(Math.max(everyMs, performance.now() - begun));
    }, pauseMs);
  };
  lookAfter(everyMs);
  await work().finally(() => clearTimeout(timer));
}

/**
 * Measures the longest that the program kept the event loop while work was under way, in milliseconds of its own processor time:
 * what other programs do on the machine does not count.
 */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let hold = 0;
  let last = process.cpuUsage();
  const look = (): void => {
    const { user, system } = process.cpuUsage(last);
    last = process.cpuUsage();
    hold = Math.max(hold, (user + system) / 1000);
  };
  await meanwhile(1, look, work);
  return hold;
}

/** Measures how many bytes more than before were held while work was under way. Looking takes time of its own. */
async function mostHeld(work: () => Promise<unknown>): Promise<number> {
  const before = held();
  let most = 0;
  const look = (): void => {
    most = Math.max(most, held() - before);
  };
  await meanwhile(500, look, work);
  return most;
}

it.each([
  ["snapshot", 100_000_000, () => `/snapshots/${org.name}/prod/-1`],
  ["explanation", 200_000_000, () => `/environments/${org.name}/prod/explain`],
])(
  "keeps nobody waiting and takes little memory: %s of 10,000 artifacts by 50 rules",
  async (_name, bytes, path) => {
    const read = async (readers: number): Promise<void> => {
      const reading = Array.from({ length: readers }, () => drain(path()));
      for (const length of await Promise.all(reading)) expect(length).toBeGreaterThan(bytes);
    };
    // Seconds, and hundreds of megabytes, when they are made in one piece. The processor time is also that of the client and of
    // collecting garbage on other threads.
    expect(await longestHold(() => read(2))).toBeLessThan(250);
    expect(await mostHeld(() => read(1))).toBeLessThan(32 * 1024 * 1024);
  },
  600_000,
);
