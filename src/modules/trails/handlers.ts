import { JsonPieces, JsonText } from "../../contract/endpoint.ts";
import type { trailEndpoints } from "../../contract/trails.ts";
import { paginationOf } from "../../contract/pagination.ts";
import { fingerprintPrefixPattern } from "../../domain/names.ts";
import type { OrgAccess } from "../../domain/principal.ts";
import { arrayPieces } from "../../lib/json-array.ts";
import type { Handlers } from "../call.ts";
import type { Deps } from "../deps.ts";
import { findFlowIdByName, flowNotFound, getFlowId } from "../flows/service.ts";
import { complainInOneText, readTemplateFile } from "../flows/template-text.ts";
import { countTrails, listAllTrails, listTrails, type ReadTrailRow, type TrailFilter } from "./list-store.ts";
import { trailPackage } from "./package-service.ts";
import { trailPdf } from "./pdf-service.ts";
import { getTrail, putTrail } from "./service.ts";
import { printTrail, trailPrinter } from "./show.ts";

/** With commas between them. */
async function printTrails(deps: Deps, org: OrgAccess, rows: readonly ReadTrailRow[]): Promise<string> {
  const print = await trailPrinter(deps, org, rows);
  return rows.map((row) => print(row)).join(",");
}

async function* allTrails(deps: Deps, org: OrgAccess, filter: TrailFilter): AsyncGenerator<string> {
  for await (const rows of listAllTrails(deps.db, org.id, filter)) yield printTrails(deps, org, rows);
}

async function pageOfTrails(
  deps: Deps,
  org: OrgAccess,
  filter: TrailFilter,
  page: { page: number; per_page: number },
): Promise<JsonText> {
  const limits = { limit: page.per_page, offset: (page.page - 1) * page.per_page };
  const [rows, total] = await Promise.all([
    listTrails(deps.db.query, org.id, filter, limits),
    countTrails(deps.db.query, org.id, filter),
  ]);
  const data = await printTrails(deps, org, rows);
  return new JsonText(`{"data":[${data}],"pagination":${JSON.stringify(paginationOf(page, total))}}`);
}

/** `key=value` or `key`. */
function tagOf(text: string | undefined): TrailFilter["tag"] {
  if (text === undefined) return undefined;
  const sign = text.indexOf("=");
  return sign === -1
    ? { key: text, value: undefined }
    : { key: text.slice(0, sign), value: text.slice(sign + 1) };
}

/**
 * Undefined when a filter can match nothing: an empty fingerprint or tag is nobody's.
 * @throws AppError not_found for an empty name of a flow, which no flow can have.
 */
async function filterOf(
  deps: Deps,
  org: OrgAccess,
  query: { flow?: string | undefined; flow_tag?: string | undefined; fingerprint?: string | undefined },
): Promise<TrailFilter | undefined> {
  const { flow, fingerprint } = query;
  if (flow === "") throw flowNotFound(flow, org);
  if (query.flow_tag === "") return undefined;
  if (fingerprint !== undefined && !fingerprintPrefixPattern.test(fingerprint)) return undefined;
  const flow_id = flow === undefined ? undefined : await findFlowIdByName(deps.db.query, org.id, flow);
  if (flow !== undefined && flow_id === undefined) return undefined;
  return { flow_id, tag: tagOf(query.flow_tag), fingerprint };
}

export const trailHandlers: Handlers<typeof trailEndpoints> = {
  list_trails_for_org: async (deps, { org, query }) => {
    const filter = await filterOf(deps, org, query);
    const body =
      filter === undefined
        ? { data: [], pagination: paginationOf(query, 0) }
        : await pageOfTrails(deps, org, filter, query);
    return { status: 200, body };
  },
  list_trails: async (deps, { org, params, query }) => {
    const flow_id = await getFlowId(deps.db.query, org, params.flow_name);
    const filter = { flow_id, tag: undefined, fingerprint: undefined };
    const { page, per_page } = query;
    if (per_page !== undefined)
      return { status: 200, body: await pageOfTrails(deps, org, filter, { page, per_page }) };
    return { status: 200, body: new JsonPieces(arrayPieces(allTrails(deps, org, filter))) };
  },
  create_trail: async (deps, call) => {
    const template = await readTemplateFile(call.org.id, call.files.template_file, complainInOneText);
    const outcome = await putTrail(deps, call, {
      ...call.body,
      flow_name: call.params.flow_name,
      template,
    });
    return { status: outcome === "begun" ? 201 : 200, body: "OK" };
  },
  get_trail: async (deps, { org, params }) => ({
    status: 200,
    body: new JsonPieces(printTrail(deps, org, await getTrail(deps, org, params))),
  }),
  download_trail_audit_package: async (deps, { org, params }) => ({
    status: 200,
    ...(await trailPackage(deps, org, params)),
  }),
  download_trail_audit_pdf: async (deps, { org, actor, params }) => ({
    status: 200,
    ...(await trailPdf(deps, { org, actor }, params)),
  }),
};
