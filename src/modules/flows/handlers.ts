import { JsonPieces, JsonText } from "../../contract/endpoint.ts";
import type { flowEndpoints, FlowsQuery } from "../../contract/flows.ts";
import { paginationOf } from "../../contract/pagination.ts";
import { invalid } from "../../domain/errors.ts";
import { parseTagFilter } from "../../domain/tags.ts";
import { legacyTemplateText } from "../../domain/template/stored.ts";
import { parseWireId } from "../../lib/ids.ts";
import { arrayPieces } from "../../lib/json-array.ts";
import type { Handlers } from "../call.ts";
import type { FlowFilter } from "./list-filters.ts";
import { listFlowPage, listFlows } from "./list-store.ts";
import { archiveFlow, getFlow, moveFlow, putFlow, renameFlow } from "./service.ts";
import { complainByLocation, readTemplateFile } from "./template-text.ts";

/** @throws AppError invalid for an empty name, which is part of every other. */
function filterOf(query: FlowsQuery): FlowFilter {
  if (query.search_by_name === "") throw invalid("Empty string is not allowed for flow names.");
  return {
    search: query.search_by_name,
    case_sensitive: query.case_sensitive,
    space_ids: query.space_id?.flatMap((id) => parseWireId(id) ?? []),
    tags: query.tag && parseTagFilter(query.tag),
  };
}

export const flowHandlers: Handlers<typeof flowEndpoints> = {
  get_flows: async (deps, { org, query }) => {
    const filter = filterOf(query);
    const { page, per_page, sort, sort_direction } = query;
    if (per_page === undefined) {
      const flows = await listFlows(deps.db, org, filter, { sort, sort_direction });
      return { status: 200, body: new JsonPieces(arrayPieces(flows)) };
    }
    const wanted = { sort, sort_direction, limit: per_page, offset: (page - 1) * per_page };
    const { flows, total } = await listFlowPage(deps.db, org, filter, wanted);
    const pagination = JSON.stringify(paginationOf({ page, per_page }, total));
    return { status: 200, body: new JsonText(`{"data":`, flows, `,"pagination":${pagination}}`) };
  },
  create_flow: async (deps, call) => {
    const { template, visibility, ...rest } = call.body;
    const outcome = await putFlow(deps, call, {
      ...rest,
      visibility: visibility ?? "private",
      template: template === undefined || template === null ? undefined : legacyTemplateText(template),
    });
    return { status: outcome === "created" ? 201 : 200, body: "OK" };
  },
  create_flow_with_template: async (deps, call) => {
    const template = await readTemplateFile(call.org.id, call.files.template_file, complainByLocation);
    const { visibility, ...rest } = call.body;
    const outcome = await putFlow(deps, call, { ...rest, visibility: visibility ?? "private", template });
    return { status: outcome === "created" ? 201 : 200, body: "OK" };
  },
  get_flow: async (deps, { org, params }) => ({
    status: 200,
    body: { ...(await getFlow(deps, org, params.flow_name)), org: org.name },
  }),
  update_flow: async (deps, call) => {
    await moveFlow(deps, call, { name: call.params.flow_name, space_id: call.body.space_id });
    return { status: 200, body: "OK" };
  },
  rename_flow: async (deps, call) => {
    await renameFlow(deps, call, { name: call.params.flow_name, new_name: call.body.new_name });
    return { status: 200, body: "OK" };
  },
  archive_flow: async (deps, call) => {
    await archiveFlow(deps, call, call.params.flow_name);
    return { status: 200, body: "OK" };
  },
};
