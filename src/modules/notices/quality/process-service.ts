import type { Tx } from "../../../db/connect.ts";
import { isPermanent } from "../../../domain/errors.ts";
import type { Actor } from "../../../domain/principal.ts";
import { type DeliveryPlan, planDelivery } from "../../../domain/quality/plan.ts";
import { ExactJson } from "../../../lib/exact-json.ts";
import { textOf } from "../../../lib/json.ts";
import { withoutMember } from "../../../lib/without-member.ts";
import { wireId } from "../../../lib/ids.ts";
import { present } from "../../../lib/present.ts";
import { recordAttestation } from "../../process/attestations/service.ts";
import { type Recorder, recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { placeReports } from "../../process/intake/service.ts";
import { type ClaimedDelivery, claimDelivery, updateOutcome } from "./delivery-store.ts";
import { integrationActorName, processTask, readPayload } from "./receive-service.ts";

/** What the job was queued with. */
export interface DeliveryJob {
  org_id: string;
  delivery_id: string;
}

function jobActor(job: DeliveryJob): Actor {
  return {
    kind: "integration",
    id: null,
    name: integrationActorName,
    api_key_id: null,
    action: processTask,
    request_id: wireId(job.delivery_id),
    request_digest: null,
  };
}

interface Work {
  job: DeliveryJob;
  delivery: ClaimedDelivery;
  plan: DeliveryPlan;
}

/** Finds flow and trail, or makes them with the descriptions the scanner gave; what is there keeps its own. */
async function placeDelivery(deps: Deps, tx: Tx, { job, delivery, plan }: Work) {
  const origin = {
    flow: plan.flow,
    trail: plan.trail,
    // Of the commit only its name is known, and a trail's commit has an author and a message.
    git_commit_info: null,
    repo_info: null,
    actor: { id: null, name: delivery.reported_by_name },
    reported_at: deps.clock.now(),
  };
  const [place] = await placeReports(deps, tx, job.org_id, [origin]);
  return present(place, "each report gets a place");
}

/** Takes the analysis as it was sent, without the scanner's properties. */
function analysisOf(body: Buffer): ExactJson {
  return ExactJson.ofText(withoutMember(textOf(body).trim(), "properties"));
}

/** Makes what is missing and records the attestation. @returns its id. */
async function carryOut(deps: Deps, tx: Tx, record: Recorder, work: Work): Promise<string> {
  const { job, delivery, plan } = work;
  const { flow, trail, reported_at } = await placeDelivery(deps, tx, work);
  const { target_artifact, ...said } = plan.attestation;
  const id = await recordAttestation(
    deps,
    tx,
    { org: { id: job.org_id, name: delivery.org_name }, flow, trail },
    {
      ...said,
      type: "sonar",
      target_artifacts: target_artifact === null ? null : [target_artifact],
      type_data: { sonar_results: analysisOf(delivery.body) },
      reported_by: delivery.reported_by_name,
      reported_at,
    },
  );
  record("attestation", wireId(id));
  return id;
}

/** Claims the delivery and carries it out, all in one transaction; nothing is left to do when it ended before. */
function attempt(deps: Deps, job: DeliveryJob): Promise<void> {
  const scope = { org: { id: job.org_id }, actor: jobActor(job) };
  return recorded(deps, scope, async (tx, record) => {
    const delivery = await claimDelivery(tx, job.org_id, job.delivery_id);
    if (delivery === undefined) return;
    const decision = planDelivery(await readPayload(delivery.body), delivery.flow_name_options);
    const end = { at: deps.clock.now() };
    record("quality_delivery", wireId(job.delivery_id));
    if (decision.kind === "ignored") {
      const { reason } = decision;
      const outcome = { status: "refused", attestation_id: null, reason } as const;
      return updateOutcome(tx, job.org_id, job.delivery_id, { ...outcome, ...end });
    }
    const attestation_id = await carryOut(deps, tx, record, { job, delivery, plan: decision.plan });
    const outcome = { status: "processed", attestation_id, reason: null } as const;
    await updateOutcome(tx, job.org_id, job.delivery_id, { ...outcome, ...end });
  });
}

/** Turns a waiting delivery down. */
function refuse(deps: Deps, job: DeliveryJob, reason: string): Promise<void> {
  const scope = { org: { id: job.org_id }, actor: jobActor(job) };
  return recorded(deps, scope, async (tx, record) => {
    if ((await claimDelivery(tx, job.org_id, job.delivery_id)) === undefined) return;
    const outcome = { status: "refused", attestation_id: null, reason } as const;
    await updateOutcome(tx, job.org_id, job.delivery_id, { ...outcome, at: deps.clock.now() });
    record("quality_delivery", wireId(job.delivery_id));
  });
}

/**
 * Carries an accepted delivery out: makes flow and trail where they are missing, records a `sonar` attestation, writes
 * down what came of it. Running it again does nothing, so a worker that dies anywhere leaves nothing half done or
 * done twice. What cannot succeed ends as refused with a reason; other failures are thrown, for another try.
 * @param lastTry turns any failure into a refusal, so that no delivery waits for ever.
 */
export async function processDelivery(deps: Deps, job: DeliveryJob, lastTry: boolean): Promise<void> {
  try {
    await attempt(deps, job);
  } catch (error) {
    if (isPermanent(error)) return refuse(deps, job, error.message);
    if (!lastTry) throw error;
    deps.log.error({ err: error, delivery: job.delivery_id }, "could not process a quality delivery");
    await refuse(deps, job, "Processing failed repeatedly, see the server's log");
  }
}
