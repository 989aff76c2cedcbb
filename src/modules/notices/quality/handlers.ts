import type { qualityEndpoints } from "../../../contract/quality.ts";
import type { OrgAccess } from "../../../domain/principal.ts";
import { parseWireId, wireId, wireIdOrNull } from "../../../lib/ids.ts";
import { type Links, pageHead } from "../../../lib/links.ts";
import { pageSlice } from "../../../lib/paging.ts";
import { present } from "../../../lib/present.ts";
import type { Gate, Gates, Handler, Handlers } from "../../kernel/call.ts";
import { countDeliveries, type DeliveryRow, findDelivery, listDeliveries } from "./delivery-store.ts";
import {
  type Admitted,
  admitDelivery,
  deliveryNotFound,
  readPayload,
  receiveDelivery,
  replayDelivery,
} from "./receive-service.ts";
import { putIntegration, removeIntegration, rotateSecret } from "./service.ts";
import { findIntegration, type IntegrationRow } from "./store.ts";

function showIntegration(links: Links, row: IntegrationRow | undefined) {
  return {
    name: "quality" as const,
    state: row === undefined ? ("off" as const) : ("on" as const),
    webhook_url: row === undefined ? null : links.api(`/webhooks/quality/${row.hook_uid}`),
    flow_name_base: row?.flow_name_base ?? null,
    flow_name_prefix: row?.flow_name_prefix ?? null,
    flow_name_suffix: row?.flow_name_suffix ?? null,
    created_at: row?.created_at ?? null,
    created_by: row?.created_by_name ?? null,
    last_modified_at: row?.last_modified_at ?? null,
    secret_forgotten: row?.secret_forgotten ?? false,
  };
}

function showDelivery(row: DeliveryRow) {
  return {
    id: wireId(row.id),
    received_at: row.received_at,
    status: row.status,
    reason: row.reason,
    authenticated_by: row.authenticated_by,
    reported_by: row.reported_by_name,
    task_id: row.task_id,
    project_key: row.project_key,
    flow_name: row.flow_name,
    trail_name: row.trail_name,
    attestation_id: wireIdOrNull(row.attestation_id),
    processed_at: row.processed_at,
    replay_of: wireIdOrNull(row.replay_of),
    body_sha256: row.body_sha256.toString("hex"),
  };
}

/** Reads the id of a delivery. @throws AppError not_found for a text that is no id: nothing can be found by it. */
function deliveryId(org: OrgAccess, text: string): string {
  const id = parseWireId(text);
  if (id === undefined) throw deliveryNotFound(org, text);
  return id;
}

const receive: Handler<(typeof qualityEndpoints)["quality_webhook"]> = async (deps, call) => ({
  status: 200,
  body: await receiveDelivery(deps, call.admission.subject as Admitted, call),
});

const admitToHook: Gate = async (deps, { params, headers, principal }) => {
  const hook_uid = present(params["hook_uid"], "the endpoint's path has it");
  const subject = await admitDelivery(deps, { hook_uid, headers, principal });
  return { share: `webhook of ${subject.hook.org_id}`, subject };
};

export const qualityGates: Gates<typeof qualityEndpoints> = {
  quality_webhook: admitToHook,
  sonar_qube_webhook: admitToHook,
};

export const qualityHandlers: Handlers<typeof qualityEndpoints> = {
  quality_webhook: receive,

  sonar_qube_webhook: (deps, call) => receive(deps, call),

  list_integrations: async (deps, { org }) => ({
    status: 200,
    body: [showIntegration(deps.links, await findIntegration(deps.db, org.id))],
  }),

  put_quality_integration: async (deps, call) => {
    const { row, secret } = await putIntegration(deps, call, call.body);
    const body = showIntegration(deps.links, row);
    return secret === undefined ? { status: 200, body } : { status: 201, body: { ...body, secret } };
  },

  rotate_quality_integration_secret: async (deps, call) => {
    const { row, secret } = await rotateSecret(deps, call);
    return { status: 200, body: { ...showIntegration(deps.links, row), secret } };
  },

  delete_quality_integration: async (deps, call) => {
    await removeIntegration(deps, call);
    return { status: 200, body: "OK" };
  },

  list_quality_deliveries: async (deps, { org, query, url }) => {
    const filter = { status: query.status, project_key: query.project_key };
    const total_count = await countDeliveries(deps.db, org.id, filter);
    const rows = await listDeliveries(deps.db, org.id, filter, pageSlice(query));
    return {
      status: 200,
      body: { ...pageHead(url, query, total_count), deliveries: rows.map(showDelivery) },
    };
  },

  get_quality_delivery: async (deps, { org, params }) => {
    const row = await findDelivery(deps.db, org.id, deliveryId(org, params.delivery_id));
    if (row === undefined) throw deliveryNotFound(org, params.delivery_id);
    return { status: 200, body: { ...showDelivery(row), payload: await readPayload(row.body) } };
  },

  replay_quality_delivery: async (deps, call) => {
    const shown_id = call.params.delivery_id;
    const row = await replayDelivery(deps, call, { id: deliveryId(call.org, shown_id), shown_id });
    return { status: 201, body: showDelivery(row) };
  },
};
