import type { Worker } from "node:worker_threads";

import { startThread } from "../thread.ts";

/** What one thread may use; the memory of jq programs is limited apart from this. */
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

/** Starts a thread for untrusted programs, without environment. */
export function startWorkerThread(): Worker {
  return startThread("./sandbox/worker", { name: "sandbox", resourceLimits });
}
