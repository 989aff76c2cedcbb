import { enqueue } from "../../db/jobs.ts";
import type { Tx } from "../../db/connect.ts";
import { transaction } from "../../db/transaction.ts";
import { retryDelay } from "../../domain/notifications/retry.ts";
import { noteOutcome } from "../actions/outcome-service.ts";
import { openSecrets } from "../actions/targets.ts";
import type { Deps } from "../deps.ts";
import type { AttemptOutcome } from "../metrics.ts";
import { deleteOldDeliveries, findWork, type Outcome, updateOutcome, type Work } from "./delivery-store.ts";
import { signingKeys } from "./key-service.ts";
import { type Attempt, type AttemptResult, send } from "./send.ts";
import { isPaused, noteAnswer } from "./pause.ts";
import { type DeliverJob, deliverTask } from "./store.ts";

/** How long settled deliveries can be looked at, in seconds. */
const keepSeconds = 30 * 24 * 60 * 60;

/** The target as it is now: a mended address is what the next attempt goes to. */
function attemptOf(deps: Deps, job: DeliverJob, work: Work): Attempt | "gone" | "unreadable" {
  const { action, target_position, target_type, occurrence, org_name } = work;
  const target = action?.targets[target_position];
  if (action === null || target?.type !== target_type) return "gone";
  const secrets = openSecrets(deps.secrets, action.target_secrets);
  if (secrets === undefined) return "unreadable";
  const keys = signingKeys(deps, job.org_id, work.key);
  return {
    delivery_id: work.id,
    occurrence,
    org_name,
    target,
    secret: secrets[target_position] ?? null,
    keys,
  };
}

/** Ends a delivery that nothing can be sent for. */
async function cancel(deps: Deps, job: DeliverJob, work: Work): Promise<void> {
  const outcome: Outcome = {
    status: "cancelled",
    attempts: work.attempts,
    last_attempt_at: null,
    next_attempt_at: null,
    response_status: null,
    error: "The action has this target no more",
  };
  const delivery = { id: work.id, before: work.attempts };
  await transaction(deps.db.query, (tx) => updateOutcome(tx, job.org_id, delivery, outcome));
}

interface Ended {
  work: Work;
  result: AttemptResult;
  at: number;
}

/** @returns how the attempt is counted; undefined when another one was written down before it. */
async function settle(
  tx: Tx,
  job: DeliverJob,
  { work, result, at }: Ended,
): Promise<AttemptOutcome | undefined> {
  const { org_id } = job;
  const attempts = work.attempts + 1;
  const delay = result.succeeded ? undefined : retryDelay(attempts, at - work.created_at);
  const { succeeded, ...said } = result;
  const outcome: Outcome = {
    ...said,
    status: succeeded ? "delivered" : delay === undefined ? "failed" : "waiting",
    attempts,
    last_attempt_at: at,
    next_attempt_at: delay === undefined ? null : at + delay,
  };
  if (!(await updateOutcome(tx, org_id, { id: work.id, before: work.attempts }, outcome))) return undefined;
  const { action_number, target_position } = work;
  await noteOutcome(tx, org_id, { action_number, position: target_position, succeeded, at });
  if (delay === undefined) return succeeded ? "delivered" : "given_up";
  const next = { org_id, delivery_id: work.id, attempts };
  await enqueue(tx, deliverTask, next, { delay });
  return "failed";
}

function failure(error: string): AttemptResult {
  return { succeeded: false, response_status: null, error };
}

/** Sends, unless the target did not answer a moment ago. */
async function tryTarget(deps: Deps, job: DeliverJob, work: Work, attempt: Attempt): Promise<AttemptResult> {
  const target = `${job.org_id} ${work.action_number} ${work.target_position}`;
  if (isPaused(deps, target)) return failure("The target did not answer others a moment ago");
  const result = await send(deps, attempt);
  noteAnswer(deps, target, result.succeeded || result.response_status !== null);
  return result;
}

/**
 * Makes one attempt at a delivery and writes down what came of it, with the job of the next attempt when there is to be
 * one. Run again after it was written down it does nothing; when the program dies in between, the attempt is made again
 * under the same id, by which receivers tell.
 */
export async function deliver(deps: Deps, job: DeliverJob): Promise<void> {
  const work = await findWork(deps.db.query, job.org_id, job);
  if (work === undefined) return;
  const attempt = attemptOf(deps, job, work);
  if (attempt === "gone") return cancel(deps, job, work);
  const result =
    attempt === "unreadable"
      ? failure("The target was sealed with another secret key")
      : await tryTarget(deps, job, work, attempt);
  const ended = { work, result, at: deps.clock.now() };
  const outcome = await transaction(deps.db.query, (tx) => settle(tx, job, ended));
  if (outcome !== undefined) deps.metrics.deliveryAttempts.inc({ target: work.target_type, outcome });
}

/** Removes deliveries that were settled and queued more than 30 days ago. */
export async function cleanDeliveries(deps: Deps): Promise<void> {
  const before = deps.clock.now() - keepSeconds;
  const removed = await transaction(deps.db.query, (tx) => deleteOldDeliveries(tx, before));
  if (removed > 0) deps.log.info({ removed }, "old notification deliveries removed");
}
