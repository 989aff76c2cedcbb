import { enqueue } from "../../../db/jobs.ts";
import type { Tx } from "../../../db/connect.ts";
import { type AppError, invalid, notFound } from "../../../domain/errors.ts";
import type { Actor, Org, OrgScope, Principal } from "../../../domain/principal.ts";
import type { FlowNameOptions } from "../../../domain/quality/names.ts";
import { deliveryKeys } from "../../../domain/quality/payload.ts";
import { planDelivery } from "../../../domain/quality/plan.ts";
import { equalInConstantTime, hmacSha256Hex, sha256 } from "../../../lib/hash.ts";
import { nilId, wireId } from "../../../lib/ids.ts";
import { isJsonObject } from "../../../lib/json-object.ts";
import { JsonError, parseJsonInTurns } from "../../../lib/json.ts";
import type { SecretBox } from "../../../lib/secret-box.ts";
import { hasRole, unauthenticated } from "../../kernel/access/service.ts";
import { type Recorder, recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type DeliveryRow, findDelivery, insertDelivery, type NewDelivery } from "./delivery-store.ts";
import { integrationOff } from "./service.ts";
import { findHook, findIntegration, type HookRow } from "./store.ts";

/** The job that carries a delivery out. */
export const processTask = "process_quality_delivery";

/** Who reports what arrives with the integration's signature. */
export const integrationActorName = "Quality webhook";

/** A call of the webhook, without its body. */
interface WebhookCall {
  hook_uid: string;
  headers: Record<string, string | string[] | undefined>;
  principal: Principal | undefined;
}

/** What was delivered, and on whose behalf. */
interface Delivered {
  body: Buffer | undefined;
  actor: Actor;
}

/** The answer the sender gets. */
type WebhookAnswer = { status: "accepted" } | { status: "duplicate" | "ignored"; reason: string };

const signatureHeaders = ["x-quality-webhook-hmac-sha256", "x-sonar-webhook-hmac-sha256"] as const;

const decoys = new WeakMap<SecretBox, Buffer>();

/** Seals a secret of no hook, once: what is checked for a hook that does not exist takes as long as for one that does. */
function decoy(secrets: SecretBox): Buffer {
  const sealed = decoys.get(secrets) ?? secrets.seal("no sender has the secret of a hook not there");
  decoys.set(secrets, sealed);
  return sealed;
}

/** A call that may be genuine: what is left to be checked is the signature over its body, if one was sent. */
export interface Admitted {
  hook: HookRow;
  /** Undefined when it was forgotten: no signature is right. */
  secret: string | undefined;
  signatures: string[];
}

/** The organization of hooks that do not exist: it is looked up as any other is. */
const nobody = nilId;

const signaturePattern = /^[0-9a-f]{64}$/;

/** Says whether a call could be genuine as far as its headers go: with signatures by their form, without by the caller's key. */
async function isPlausible(
  deps: Deps,
  signatures: readonly string[],
  caller: { principal: Principal | undefined; org_id: string },
): Promise<boolean> {
  if (signatures.length > 0) return signatures.every((signature) => signaturePattern.test(signature));
  const { principal, org_id } = caller;
  return principal !== undefined && (await hasRole(deps, principal, { org_id, role: "member" }));
}

/**
 * Looks at a call before its body is read: whether there is such a hook, and whether what was sent along could be genuine.
 * The same is done for a hook that does not exist as for one that does, up to the answer.
 * @throws AppError not_found for an unknown hook; unauthenticated for signatures that no body has, and without any for a key
 * that may not report in the hook's organization.
 */
export async function admitDelivery(
  deps: Deps,
  { hook_uid, headers, principal }: WebhookCall,
): Promise<Admitted> {
  const hook = await findHook(deps.db, hook_uid);
  const opened = deps.secrets.open(hook?.secret ?? decoy(deps.secrets));
  const secret = hook?.secret === null ? undefined : opened;
  const signatures = signatureHeaders
    .map((name) => headers[name])
    .filter((value) => value !== undefined)
    .map(String);
  const plausible = await isPlausible(deps, signatures, { principal, org_id: hook?.org_id ?? nobody });
  if (hook === undefined) throw notFound("Webhook not found");
  if (!plausible) throw unauthenticated();
  return { hook, secret, signatures };
}

/** Says what shows that a call is genuine. @throws AppError unauthenticated when a signature is not that of the body. */
function checkSignatures({ secret, signatures }: Admitted, body: Buffer): "signature" | "api_key" {
  if (signatures.length === 0) return "api_key";
  if (secret === undefined) throw unauthenticated();
  const expected = hmacSha256Hex(secret, body);
  const right = signatures.map((signature) => equalInConstantTime(signature, expected));
  if (right.includes(false)) throw unauthenticated();
  return "signature";
}

/**
 * Reads the JSON object in a delivery's body. Others come in between while a large one is read.
 * @throws AppError invalid when there is none.
 */
export async function readPayload(body: Buffer): Promise<Record<string, unknown>> {
  let payload: unknown;
  try {
    payload = await parseJsonInTurns(body);
  } catch (error) {
    if (error instanceof JsonError) throw invalid(`Request body is not valid JSON: ${error.message}`);
    throw error;
  }
  if (!isJsonObject(payload)) throw invalid("Request body must be a JSON object");
  return payload;
}

/** What a delivery brings along, whether it came in or is repeated. */
type Incoming = Pick<NewDelivery, "body" | "authenticated_by" | "reported_by_name" | "replay_of"> & {
  org_id: string;
  options: FlowNameOptions;
};

interface Stored {
  delivery: NewDelivery;
  answer: WebhookAnswer;
}

/** Stores a delivery, and queues the job that carries it out when there is something to do and nobody did it yet. */
async function storeDelivery(deps: Deps, tx: Tx, record: Recorder, incoming: Incoming): Promise<Stored> {
  const { org_id, options, ...rest } = incoming;
  const payload = await readPayload(rest.body);
  const decision = planDelivery(payload, options);
  const now = deps.clock.now();
  const delivery: NewDelivery = {
    ...rest,
    ...deliveryKeys(payload),
    id: deps.ids.next(),
    received_at: now,
    body_sha256: sha256(rest.body),
    flow_name_options: options,
    status: "accepted",
    reason: null,
    flow_name: decision.kind === "plan" ? decision.plan.flow.name : null,
    trail_name: decision.kind === "plan" ? decision.plan.trail.name : null,
    processed_at: null,
  };
  record("quality_delivery", wireId(delivery.id));
  if (decision.kind === "plan" && (await insertDelivery(tx, org_id, delivery))) {
    await enqueue(tx, processTask, { org_id, delivery_id: delivery.id }, { key: `quality ${delivery.id}` });
    return { delivery, answer: { status: "accepted" } };
  }
  const answer: WebhookAnswer =
    decision.kind === "ignored"
      ? { status: "ignored", reason: decision.reason }
      : { status: "duplicate", reason: `Analysis ${delivery.task_id} was delivered before` };
  const ended: NewDelivery = { ...delivery, ...answer, processed_at: now };
  await insertDelivery(tx, org_id, ended);
  return { delivery: ended, answer };
}

/**
 * Takes a call of the webhook: checks it, stores it with its job in one transaction, and says what will become of it.
 * Of several deliveries of one analysis the first counts; one without a task id is never a duplicate.
 * @param admitted by `admitDelivery`.
 * @throws AppError unauthenticated for a call that is not genuine, invalid for a body that is no JSON object.
 */
export async function receiveDelivery(
  deps: Deps,
  admitted: Admitted,
  call: Delivered,
): Promise<WebhookAnswer> {
  const body = call.body ?? Buffer.alloc(0);
  const { hook } = admitted;
  const by = checkSignatures(admitted, body);
  await readPayload(body);
  const actor: Actor =
    by === "api_key"
      ? call.actor
      : { ...call.actor, kind: "integration", id: null, name: integrationActorName, api_key_id: null };
  const { flow_name_base, flow_name_prefix, flow_name_suffix } = hook;
  return recorded(deps, { org: { id: hook.org_id }, actor }, async (tx, record) => {
    const { answer } = await storeDelivery(deps, tx, record, {
      org_id: hook.org_id,
      body,
      authenticated_by: by,
      reported_by_name: actor.name,
      options: { flow_name_base, flow_name_prefix, flow_name_suffix },
      replay_of: null,
    });
    return answer;
  });
}

/** Makes the 404 for an id that is none of the organization's deliveries. */
export function deliveryNotFound(org: Org, id: string): AppError {
  return notFound(`Delivery '${id}' does not exist for organization '${org.name}'`);
}

/**
 * Processes a stored delivery again, under the present settings, as a new delivery. Not idempotent: every replay that
 * succeeds adds an attestation.
 * @throws AppError not_found for an unknown delivery, and while the integration is off.
 */
export function replayDelivery(
  deps: Deps,
  scope: OrgScope,
  delivery: { id: string; shown_id: string },
): Promise<DeliveryRow> {
  const { org } = scope;
  return recorded(deps, scope, async (tx, record) => {
    const integration = await findIntegration(tx, org.id);
    if (integration === undefined) throw integrationOff(org);
    const original = await findDelivery(tx, org.id, delivery.id);
    if (original === undefined) throw deliveryNotFound(org, delivery.shown_id);
    const { flow_name_base, flow_name_prefix, flow_name_suffix } = integration;
    const stored = await storeDelivery(deps, tx, record, {
      org_id: org.id,
      body: original.body,
      authenticated_by: original.authenticated_by,
      reported_by_name: original.reported_by_name,
      options: { flow_name_base, flow_name_prefix, flow_name_suffix },
      replay_of: original.id,
    });
    return { ...stored.delivery, attestation_id: null };
  });
}
