/**
 * Loaded into a server that a test started: tells, whenever it gets SIGUSR2, how long its event loop was held at most
 * since the last time, in milliseconds, and how much memory it took at most, in MB. What other programs on the machine
 * took of the processor is left out, and so is what other threads did meanwhile.
 */
import { usedByFirstThread } from "../../attack/thread-time.mjs";

const everyMs = 2;

let last = performance.now();
let used = usedByFirstThread();
let longest = 0;
let resident = 0;
let ticks = 0;

function look() {
  const now = performance.now();
  const usedNow = usedByFirstThread();
  longest = Math.max(longest, Math.min(now - last - everyMs, usedNow - used));
  [last, used] = [now, usedNow];
  ticks += 1;
  if (ticks % 10 === 0) resident = Math.max(resident, process.memoryUsage.rss() / 1024 / 1024);
}

setInterval(look, everyMs).unref();
process.on("SIGUSR2", () => {
  look();
  const seen = {
    longest: Math.round(longest),
    resident: Math.round(process.memoryUsage.rss() / 1024 / 1024),
    peak: Math.round(resident),
  };
  process.stdout.write(`probe ${JSON.stringify(seen)}\n`);
  [longest, resident] = [0, 0];
});
