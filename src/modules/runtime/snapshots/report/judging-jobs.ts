import type { Tx } from "../../../../db/connect.ts";
import { enqueueAll } from "../../../../db/jobs.ts";
import type { Org } from "../../../../domain/principal.ts";
import type { SnapshotCause } from "./targets.ts";

export const reevaluateTask = "reevaluate_environment";

/** What the job was queued with. */
export interface ReevaluationJob {
  org_id: string;
  org_name: string;
  environment_id: string;
  /** Jobs from before there was another one have none: then it is a policy. */
  cause?: SnapshotCause;
}

/**
 * Queues a job for each environment that judges it again by its policies, in the caller's transaction: whatever happens
 * to the program then, none is forgotten.
 */
export function queueReevaluation(
  tx: Tx,
  org: Org,
  environmentIds: readonly string[],
  cause: SnapshotCause = "policy",
): Promise<void> {
  const jobs = environmentIds.map((environment_id) => ({
    payload: { org_id: org.id, org_name: org.name, environment_id, cause } satisfies ReevaluationJob,
    key: `${reevaluateTask} ${environment_id}`,
  }));
  return enqueueAll(tx, reevaluateTask, jobs);
}
