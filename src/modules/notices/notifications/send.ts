import type { OpenTarget, TargetSecret } from "../../../domain/actions.ts";
import {
  mailBody,
  type MessageContext,
  slackBody,
  webhookBody,
} from "../../../domain/notifications/message.ts";
import type { OccurrenceRecord } from "../../../domain/notifications/occurrence.ts";
import { signatureHeaders } from "../../../domain/notifications/signature.ts";
import { wireId } from "../../../lib/ids.ts";
import type { Deps } from "../../kernel/deps.ts";
import { explainFailure } from "./failure.ts";
import { sendMail } from "./mail.ts";
import { postJson } from "./post.ts";

/** Everything one attempt needs. */
export interface Attempt {
  delivery_id: string;
  occurrence: OccurrenceRecord;
  org_name: string;
  target: OpenTarget;
  secret: TargetSecret;
  /** To sign with, the one in force first. */
  keys: Buffer[];
}

/** How an attempt ended. `error` says why it failed, or what went wrong although it succeeded. */
export interface AttemptResult {
  succeeded: boolean;
  response_status: number | null;
  error: string | null;
}

const timeoutMs = 15_000;

function judgeStatus(status: number): AttemptResult {
  const succeeded = status >= 200 && status < 300;
  const redirected = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  const error = succeeded ? null : `Answered with status ${status}${redirected}`;
  return { succeeded, response_status: status, error };
}

async function post(deps: Deps, attempt: Attempt, body: string, headers = {}): Promise<AttemptResult> {
  const options = { allowPrivate: deps.config.allowPrivateTargets, timeoutMs };
  return judgeStatus(await postJson(attempt.secret ?? "", body, headers, options));
}

async function mail(deps: Deps, attempt: Attempt, context: MessageContext): Promise<AttemptResult> {
  const { target, occurrence } = attempt;
  const to = target.type === "EMAIL" ? target.emails : [];
  if (deps.config.smtp === undefined)
    return { succeeded: false, response_status: null, error: "No mail server is configured" };
  const message = { ...mailBody(occurrence, context), to, id: wireId(attempt.delivery_id) };
  const rejected = await sendMail(deps.config.smtp, message, timeoutMs);
  const error = rejected.length === 0 ? null : `The mail server refused ${rejected.join(", ")}`;
  return { succeeded: true, response_status: null, error };
}

/**
 * Makes one attempt to tell a target, in bounded time. A failure is a result, not an exception: it neither stops others
 * nor reveals the target's address.
 */
export async function send(deps: Deps, attempt: Attempt): Promise<AttemptResult> {
  const { target, occurrence } = attempt;
  const context: MessageContext = { org: attempt.org_name, links: deps.links };
  try {
    if (target.type === "EMAIL") return await mail(deps, attempt, context);
    if (target.type === "SLACK")
      return await post(deps, attempt, JSON.stringify(slackBody(occurrence, context)));
    const body = JSON.stringify(webhookBody(occurrence, context));
    const message = { id: wireId(attempt.delivery_id), timestamp: Math.floor(deps.clock.now()), body };
    return await post(deps, attempt, body, signatureHeaders(message, attempt.keys));
  } catch (error) {
    const failure = explainFailure(error);
    deps.log.debug({ delivery: attempt.delivery_id, failure }, "a notification failed");
    return { succeeded: false, response_status: null, error: failure };
  }
}
