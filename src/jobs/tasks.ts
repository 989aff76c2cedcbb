import type { TaskList } from "graphile-worker";

import type { Deps } from "../modules/kernel/deps.ts";
import { keepPartitionsAhead, readPartitionStates } from "../modules/maintenance/partitions/service.ts";
import { cleanEvidence } from "../modules/process/evidence/verify-service.ts";
import {
  cleanDeliveries,
  deliver,
  type DeliverJob,
  deliverTask,
} from "../modules/notices/notifications/deliver-service.ts";
import {
  type ReevaluationJob,
  reevaluateTask,
  runReevaluation,
} from "../modules/runtime/changes/policies/reevaluate-service.ts";
import { type DeliveryJob, processDelivery } from "../modules/notices/quality/process-service.ts";
import { processTask } from "../modules/notices/quality/receive-service.ts";
import { noticeSilence } from "../modules/runtime/silence/watch-service.ts";

const cleanEvidenceTask = "clean_evidence";
const cleanDeliveriesTask = "clean_notification_deliveries";
const noticeSilenceTask = "notice_silence";
const keepPartitionsTask = "keep_partitions";
const cleanEvidenceMs = 60_000;

/** What is queued by the clock: minute, hour, day, month, weekday in UTC, task. A missed run is made up for once. */
export const schedule = `17 3 * * * ${cleanEvidenceTask} ?fill=1d&max=3
23 3 * * * ${cleanDeliveriesTask} ?fill=1d&max=3
41 3 * * * ${keepPartitionsTask} ?fill=1d&max=3
* * * * * ${noticeSilenceTask} ?max=3&jobKey=${noticeSilenceTask}`;

/** Makes partitions for the months to come, and warns of rows that belong to none. */
async function keepPartitions(deps: Deps): Promise<void> {
  for (const { table, strays } of await readPartitionStates(deps))
    if (strays > 0) deps.log.warn({ table, strays }, "rows of a partitioned table belong to no month it has");
  await keepPartitionsAhead(deps);
}

/** Jobs that wait for other people's servers, by the name they are queued under. */
export function deliveryTasks(deps: Deps): TaskList {
  return { [deliverTask]: (payload) => deliver(deps, payload as DeliverJob) };
}

/** Jobs that tell nobody anything by themselves: they go on in a restored copy that is to be quiet. */
export function quietTasks(deps: Deps): TaskList {
  return {
    [reevaluateTask]: (payload) => runReevaluation(deps, payload as ReevaluationJob),
    [processTask]: (payload, { job }) =>
      processDelivery(deps, payload as DeliveryJob, job.attempts >= job.max_attempts),
  };
}

/** Every other kind of background job, by the name it is queued under. */
export function jobTasks(deps: Deps): TaskList {
  return {
    [cleanEvidenceTask]: () => cleanEvidence(deps, cleanEvidenceMs),
    [cleanDeliveriesTask]: () => cleanDeliveries(deps),
    [keepPartitionsTask]: () => keepPartitions(deps),
    [noticeSilenceTask]: () => noticeSilence(deps),
    ...quietTasks(deps),
  };
}
