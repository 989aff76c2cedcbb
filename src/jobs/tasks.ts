import type { TaskList } from "graphile-worker";

import { forgetOldClusters } from "../db/managed/index.ts";
import { announceLinkTask } from "../domain/sessions.ts";
import { daySeconds } from "../lib/units.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { eraseOldAddresses } from "../modules/kernel/audit/erase-service.ts";
import { pushAuditLogs } from "../modules/kernel/audit/push-service.ts";
import { keepPartitionsAhead, readPartitionStates } from "../modules/maintenance/partitions/service.ts";
import { cleanEvidence } from "../modules/process/evidence/verify-service.ts";
import { announceLink, type AnnounceLinkJob } from "../modules/notices/notifications/announce-service.ts";
import {
  cleanDeliveries,
  deliver,
  type DeliverJob,
  deliverTask,
} from "../modules/notices/notifications/deliver-service.ts";
import { runReevaluation } from "../modules/runtime/changes/policies/reevaluate-service.ts";
import { type ReevaluationJob, reevaluateTask } from "../modules/runtime/snapshots/report/judging-jobs.ts";
import { type DeliveryJob, processDelivery } from "../modules/notices/quality/process-service.ts";
import { processTask } from "../modules/notices/quality/receive-service.ts";
import { type MailJob, mailNotice, mailTask, noticeKeys } from "../modules/notices/keys/service.ts";
import { noticeSilence } from "../modules/runtime/silence/watch-service.ts";

const cleanEvidenceTask = "clean_evidence";
const cleanDeliveriesTask = "clean_notification_deliveries";
const noticeSilenceTask = "notice_silence";
const noticeKeysTask = "notice_keys";
const keepPartitionsTask = "keep_partitions";
const eraseAddressesTask = "erase_audit_addresses";
const pushAuditTask = "push_audit_logs";
const forgetOldClusterTask = "forget_old_cluster";
const oldClusterSeconds = 30 * daySeconds;
const cleanEvidenceMs = 60_000;

/** What is queued by the clock: minute, hour, day, month, weekday in UTC, task. A missed run is made up for once. */
export const schedule = `17 3 * * * ${cleanEvidenceTask} ?fill=1d&max=3
23 3 * * * ${cleanDeliveriesTask} ?fill=1d&max=3
41 3 * * * ${keepPartitionsTask} ?fill=1d&max=3
53 3 * * * ${forgetOldClusterTask} ?fill=1d&max=3
47 3 * * * ${eraseAddressesTask} ?fill=1d&max=3
11 * * * * ${noticeKeysTask} ?fill=1h&max=3&jobKey=${noticeKeysTask}
* * * * * ${noticeSilenceTask} ?max=3&jobKey=${noticeSilenceTask}`;

/** The same for what sends audit logs elsewhere. One run at a time, of all servers: a queue has its jobs one after the other. */
export const auditSchedule = `* * * * * ${pushAuditTask} ?max=1&queue=${pushAuditTask}&jobKey=${pushAuditTask}`;

/** Makes partitions for the months to come, and warns of rows that belong to none. */
async function keepPartitions(deps: Deps): Promise<void> {
  for (const { table, strays } of await readPartitionStates(deps))
    if (strays > 0) deps.log.warn({ table, strays }, "rows of a partitioned table belong to no month it has");
  await keepPartitionsAhead(deps);
}

/** Removes what was kept of a managed database that was moved to another major version of PostgreSQL long ago. */
async function forgetOldCluster({ config, log }: Deps): Promise<void> {
  if (config.databaseUrl !== undefined) return;
  const removed = await forgetOldClusters(config.dataDir, oldClusterSeconds);
  if (removed.length > 0) log.info({ removed }, "removed the database as it was before it was moved");
}

/** Jobs that wait for other people's servers, by the name they are queued under. */
export function deliveryTasks(deps: Deps): TaskList {
  return {
    [deliverTask]: (payload) => deliver(deps, payload as DeliverJob),
    [mailTask]: (payload) => mailNotice(deps, payload as MailJob),
  };
}

/** Jobs that send audit logs to where the operator keeps them. */
export function auditTasks(deps: Deps): TaskList {
  return { [pushAuditTask]: () => pushAuditLogs(deps) };
}

/** Jobs that tell nobody anything by themselves: they go on in a restored copy that is to be quiet. */
export function quietTasks(deps: Deps): TaskList {
  return {
    [reevaluateTask]: (payload) => runReevaluation(deps, payload as ReevaluationJob),
    [processTask]: (payload, { job }) =>
      processDelivery(deps, payload as DeliveryJob, job.attempts >= job.max_attempts),
  };
}

/** Gives every other kind of background job, by the name it is queued under. */
export function jobTasks(deps: Deps): TaskList {
  return {
    [cleanEvidenceTask]: () => cleanEvidence(deps, cleanEvidenceMs),
    [cleanDeliveriesTask]: () => cleanDeliveries(deps),
    [keepPartitionsTask]: () => keepPartitions(deps),
    [eraseAddressesTask]: () => eraseOldAddresses(deps),
    [forgetOldClusterTask]: () => forgetOldCluster(deps),
    [noticeSilenceTask]: () => noticeSilence(deps),
    [announceLinkTask]: (payload) => announceLink(deps, payload as AnnounceLinkJob),
    [noticeKeysTask]: () => noticeKeys(deps),
    ...quietTasks(deps),
  };
}
