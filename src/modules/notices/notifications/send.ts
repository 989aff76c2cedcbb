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
import type { Span } from "../../../lib/tracing/tracing.ts";
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

/** How long an attempt takes at most, in seconds. */
export const attemptSeconds = 15;
const timeoutMs = attemptSeconds * 1000;

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

/** Begins the span of one attempt; undefined where it is not recorded. Neither the target's address nor its name are in it. */
function spanOf({ request }: Deps, { target, delivery_id }: Attempt): Span | undefined {
  return request?.trace.span?.child(`send ${target.type.toLowerCase()}`, {
    kind: "client",
    attributes: { "waybill.delivery.id": wireId(delivery_id) },
  });
}

/** What tells a receiver which trace a message is part of (W3C Trace Context); nothing without traces. */
function traceHeaders({ request }: Deps, span: Span | undefined): Record<string, string> {
  const traceparent = span?.traceparent ?? request?.trace.traceparent;
  return traceparent === undefined ? {} : { traceparent };
}

/**
 * Makes one attempt to tell a target, in bounded time. A failure is a result, not an exception: it neither stops others
 * nor reveals the target's address.
 */
export async function send(deps: Deps, attempt: Attempt): Promise<AttemptResult> {
  const span = spanOf(deps, attempt);
  const result = await sendWithin(deps, attempt, span);
  const { succeeded, response_status } = result;
  span?.set({ "http.response.status_code": response_status ?? undefined });
  if (!succeeded) span?.fail(response_status === null ? "_OTHER" : String(response_status));
  span?.end();
  return result;
}

/** Makes the attempt, which tells a webhook what it is part of. */
async function sendWithin(deps: Deps, attempt: Attempt, span: Span | undefined): Promise<AttemptResult> {
  const { target, occurrence } = attempt;
  const context: MessageContext = { org: attempt.org_name, links: deps.links };
  try {
    if (target.type === "EMAIL") return await mail(deps, attempt, context);
    if (target.type === "SLACK")
      return await post(deps, attempt, JSON.stringify(slackBody(occurrence, context)));
    const body = JSON.stringify(webhookBody(occurrence, context));
    const message = { id: wireId(attempt.delivery_id), timestamp: Math.floor(deps.clock.now()), body };
    const headers = { ...signatureHeaders(message, attempt.keys), ...traceHeaders(deps, span) };
    return await post(deps, attempt, body, headers);
  } catch (error) {
    const failure = explainFailure(error);
    deps.log.debug({ delivery: attempt.delivery_id, failure }, "a notification failed");
    return { succeeded: false, response_status: null, error: failure };
  }
}
