// Loaded into a server's process before anything else: tells its parent the longest time of the processor that its first
// thread used between two turns of the event loop. Unlike the time on the wall that says nothing of the machine.
import { isMainThread } from "node:worker_threads";

import { usedByFirstThread } from "./thread-time.mjs";

const everyMs = 5;
const tellMs = 100;

function watch() {
  let [last, longest, toldAt] = [usedByFirstThread(), 0, performance.now()];
  setInterval(() => {
    const now = usedByFirstThread();
    longest = Math.max(longest, now - last);
    last = now;
    if (performance.now() - toldAt < tellMs || !process.connected) return;
    process.send({ heldMs: longest });
    [longest, toldAt] = [0, performance.now()];
  }, everyMs).unref();
  process.channel.unref();
}

if (isMainThread && process.platform === "linux" && process.channel !== undefined) watch();
