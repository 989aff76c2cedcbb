import { createConnection } from "node:net";
import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { withArtifacts } from "../support/many-artifacts.ts";
import { listen } from "../support/sockets.ts";
import { amount } from "../support/thorough.ts";
import { threadTime } from "../support/turns.ts";

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

/**
 * Looks at a program while work is under way: for how long it kept the event loop at most, in milliseconds of its thread's processor time, so
 * that what others do on the machine does not count, and how many bytes more than before were held. Looking takes time of its own, which
 * does not count, and at most half of all.
 */
async function watch(work: () => Promise<unknown>): Promise<{ hold: number; bytes: number }> {
  const most = { hold: 0, bytes: 0 };
  const before = held();
  let pauseMs = 500;
  let [looked, last] = [performance.now(), threadTime()];
  const timer = setInterval(() => {
    most.hold = Math.max(most.hold, threadTime() - last);
    const begun = performance.now();
    if (begun - looked > pauseMs) {
      most.bytes = Math.max(most.bytes, held() - before);
      looked = performance.now();
      pauseMs = Math.max(500, looked - begun);
    }
    last = threadTime();
  }, 1);
  await work().finally(() => clearInterval(timer));
  return most;
}

it.each([
  ["snapshot", 100_000_000, () => `/snapshots/${org.name}/prod/-1`],
  ["explanation", 200_000_000, () => `/environments/${org.name}/prod/explain`],
])(
  "keeps nobody waiting and takes little memory: %s of 10,000 artifacts by 50 rules",
  async (_name, bytes, path) => {
    const readers = amount(1, 2);
    const read = async (): Promise<void> => {
      const reading = Array.from({ length: readers }, () => drain(path()));
      for (const length of await Promise.all(reading)) expect(length).toBeGreaterThan(bytes);
    };
    // Seconds, and hundreds of megabytes, when they are made in one piece. The time is also that of the client.
    const most = await watch(read);
    expect(most.hold).toBeLessThan(250);
    expect(most.bytes).toBeLessThan(readers * 32 * 1024 * 1024);
  },
  600_000,
);
