import { enqueue } from "../../../db/jobs.ts";
import type { Tx } from "../../../db/connect.ts";
import { transaction } from "../../../db/transaction.ts";
import { retryDelay } from "../../../domain/notifications/retry.ts";
import { nilId } from "../../../lib/ids.ts";
import { recordOutcome } from "../actions/service.ts";
import { openSecrets } from "../actions/targets.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { AttemptOutcome } from "../../kernel/metrics.ts";
import {
  deleteOldDeliveries,
  type DueDelivery,
  findDueDelivery,
  listOrganizations,
  type Outcome,
  updateOutcome,
} from "./delivery-store.ts";
import { signingKeys } from "./key-service.ts";
import { isPaused, recordAnswer, recordAttempt } from "./pause.ts";
import { putBack, takePlace } from "./places.ts";
import { type Attempt, type AttemptResult, attemptSeconds, send } from "./send.ts";
import { type DeliverJob, deliverTask } from "./store.ts";

export { type DeliverJob, deliverTask };

/** How long settled deliveries are kept to be looked at, in seconds. */
const retentionSeconds = 30 * 24 * 60 * 60;

/** Why a target's address cannot be read. */
const unreadable = {
  forgotten: "The target's address was forgotten when the installation was restored without its secret key",
  sealed: "The target was sealed with another secret key",
} as const;
type Unreadable = keyof typeof unreadable;

/** Gathers what an attempt needs, with the target as it is now: the next attempt goes to a mended address. */
function attemptOf(deps: Deps, job: DeliverJob, delivery: DueDelivery): Attempt | "gone" | Unreadable {
  const { action, target_position, target_type, occurrence, org_name } = delivery;
  const target = action?.targets[target_position];
  if (action === null || target?.type !== target_type) return "gone";
  const { target_secrets } = action;
  if (target_secrets === null && target.type !== "EMAIL") return "forgotten";
  const secrets = target_secrets === null ? [] : openSecrets(deps.secrets, target_secrets);
  if (secrets === undefined) return "sealed";
  const keys = signingKeys(deps, job.org_id, delivery.key);
  return {
    delivery_id: delivery.id,
    occurrence,
    org_name,
    target,
    secret: secrets[target_position] ?? null,
    keys,
  };
}

/** Ends a delivery that nothing can be sent for. */
async function cancel(deps: Deps, job: DeliverJob, delivery: DueDelivery): Promise<void> {
  const outcome: Outcome = {
    status: "cancelled",
    attempts: delivery.attempts,
    last_attempt_at: null,
    next_attempt_at: null,
    response_status: null,
    error: "The action has this target no more",
  };
  const { id, attempts: before } = delivery;
  await transaction(deps.db, (tx) => updateOutcome(tx, job.org_id, { id, before }, outcome));
}

interface Ended {
  delivery: DueDelivery;
  result: AttemptResult;
  at: number;
}

/**
 * Writes down how an attempt ended, with the job of the next one when there is to be one.
 * @returns how the attempt is counted; undefined when another one was written down before it.
 */
async function settle(
  tx: Tx,
  job: DeliverJob,
  { delivery, result, at }: Ended,
): Promise<AttemptOutcome | undefined> {
  const { org_id } = job;
  const attempts = delivery.attempts + 1;
  const delay = result.succeeded ? undefined : retryDelay(attempts);
  const { succeeded, ...said } = result;
  const outcome: Outcome = {
    ...said,
    status: succeeded ? "delivered" : delay === undefined ? "failed" : "waiting",
    attempts,
    last_attempt_at: at,
    next_attempt_at: delay === undefined ? null : at + delay,
  };
  if (!(await updateOutcome(tx, org_id, { id: delivery.id, before: delivery.attempts }, outcome)))
    return undefined;
  const { action, action_number, target_position: position } = delivery;
  // What was not sent says nothing new of the target, and nothing of when it was tried.
  if (action !== null && result !== silent) {
    const { last_modified_at } = action;
    await recordOutcome(tx, org_id, { action_number, last_modified_at, position, succeeded, at });
  }
  if (delay === undefined) return succeeded ? "delivered" : "given_up";
  const next = { org_id, delivery_id: delivery.id, attempts };
  await enqueue(tx, deliverTask, next, { delay });
  return "failed";
}

function failure(error: string): AttemptResult {
  return { succeeded: false, response_status: null, error };
}

const silent = failure("The target did not answer others a moment ago");

/** Sends, unless the target did not answer a moment ago and there are attempts to come. @returns undefined where it was put back, because the organization has enough under way. */
async function tryTarget(
  deps: Deps,
  job: DeliverJob,
  delivery: DueDelivery,
  attempt: Attempt,
): Promise<AttemptResult | undefined> {
  const { action, action_number, target_position } = delivery;
  const target = `${job.org_id} ${action_number} ${action?.last_modified_at} ${target_position}`;
  // What is given up when this fails was itself tried: the target may be there again.
  const isLast = retryDelay(delivery.attempts + 1) === undefined;
  const isLeftAlone = (): boolean => !isLast && isPaused(deps, target);
  if (isLeftAlone()) return silent;
  const { org_id, delivery_id, attempts, postponed } = job;
  const place = await takePlace(deps, { kind: "deliveries", owner: org_id, postponed });
  if ("comeAgain" in place) {
    const again = {
      payload: { org_id, delivery_id, attempts },
      key: `${deliverTask} ${delivery_id} ${attempts}`,
    };
    await putBack(deps, deliverTask, again, { postponed, delay: place.comeAgain });
    return undefined;
  }
  try {
    // It may have been found silent while this waited for a place.
    if (isLeftAlone()) return silent;
    const beganAt = deps.clock.now();
    recordAttempt(deps, target, attemptSeconds);
    const result = await send(deps, attempt);
    recordAnswer(deps, target, { answered: result.succeeded || result.response_status !== null, beganAt });
    return result;
  } finally {
    place.leave();
  }
}

/**
 * Makes one attempt at a delivery and writes down what came of it, with the job of the next attempt when there is to be
 * one, or puts it off while the organization has enough under way. Run again after it was written down it does nothing; when the program dies in between, the attempt is made again
 * under the same id, by which receivers tell.
 */
export async function deliver(deps: Deps, job: DeliverJob): Promise<void> {
  const delivery = await findDueDelivery(deps.db, job.org_id, job);
  if (delivery === undefined) return;
  const attempt = attemptOf(deps, job, delivery);
  if (attempt === "gone") return cancel(deps, job, delivery);
  const result =
    typeof attempt === "string"
      ? failure(unreadable[attempt])
      : await tryTarget(deps, job, delivery, attempt);
  if (result === undefined) return;
  const ended = { delivery, result, at: deps.clock.now() };
  const outcome = await transaction(deps.db, (tx) => settle(tx, job, ended));
  const { deliveryAttempts, orgs } = deps.metrics;
  if (outcome !== undefined)
    deliveryAttempts.inc({ target: delivery.target_type, outcome, ...orgs.of(delivery.org_name) });
}

/**
 * Removes deliveries that were settled and queued more than 30 days ago, of all organizations, some at a time. What was
 * interrupted goes on the next time.
 */
export async function cleanDeliveries(deps: Deps): Promise<void> {
  const before = deps.clock.now() - retentionSeconds;
  let count = 0;
  for (const org of await listOrganizations(deps.db)) {
    let after: string | null = nilId;
    while (after !== null) {
      const from: string = after;
      const { removed, last } = await transaction(deps.db, (tx) =>
        deleteOldDeliveries(tx, org, { after: from, before }),
      );
      count += removed;
      after = last;
    }
  }
  if (count > 0) deps.log.info({ removed: count }, "old notification deliveries removed");
}
