import type { TaskList } from "graphile-worker";

import type { Deps } from "../modules/deps.ts";
import { type DeliveryJob, processDelivery } from "../modules/quality/process-service.ts";
import { processTask } from "../modules/quality/receive-service.ts";

/** Every kind of background job, by the name it is queued under. */
export function jobTasks(deps: Deps): TaskList {
  return {
    [processTask]: (payload, { job }) =>
      processDelivery(deps, payload as DeliveryJob, job.attempts >= job.max_attempts),
  };
}
