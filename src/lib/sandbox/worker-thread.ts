import type { Worker } from "node:worker_threads";

import { startThread } from "../thread.ts";

/** Memory that one thread may use; that of jq programs is limited separately. */
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

/** Starts a thread for untrusted programs, without environment. */
export function startWorkerThread(): Worker {
  return startThread("sandbox", { name: "sandbox", resourceLimits });
}
