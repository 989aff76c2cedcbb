import { JsonPieces } from "../../../contract/endpoint.ts";
import type { flowStatisticsEndpoints } from "../../../contract/flow-statistics.ts";
import type { flowTemplateCheckEndpoints } from "../../../contract/flow-template-checks.ts";
import type { flowEndpoints, FlowsQuery } from "../../../contract/flows.ts";
import { paginationOf } from "../../../contract/pagination.ts";
import { flowPage } from "../../../domain/pages.ts";
import { invalid, invalidInput } from "../../../domain/errors.ts";
import { parseTagFilter } from "../../../domain/tags.ts";
import { legacyTemplateText } from "../../../domain/template/stored.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { arrayPieces } from "../../../lib/json-array.ts";
import { pageSlice } from "../../../lib/paging.ts";
import type { Handlers } from "../../kernel/call.ts";
import { listAnswer } from "../../kernel/list-answer.ts";
import type { FlowFilter } from "./list-filters-sql.ts";
import { listFlowPage, listFlows } from "./list-store.ts";
import { archiveFlow, getFlow, moveFlow, putFlow, renameFlow, unarchiveFlow } from "./service.ts";
import { getFlowStatistics } from "./statistics-service.ts";
import { checkTemplate } from "./template-check.ts";
import { complainByLocation, readTemplateFile } from "./template-text.ts";

/** @throws AppError invalid for an empty name, which is part of every other. */
function filterOf(query: FlowsQuery): FlowFilter {
  if (query.search_by_name === "") throw invalid("Empty string is not allowed for flow names.");
  return {
    search: query.search_by_name,
    case_sensitive: query.case_sensitive,
    space_ids: query.space_id?.flatMap((id) => parseWireId(id) ?? []),
    tags: query.tag && parseTagFilter(query.tag),
    archived: query.archived,
  };
}

export const flowHandlers: Handlers<
  typeof flowEndpoints & typeof flowStatisticsEndpoints & typeof flowTemplateCheckEndpoints
> = {
  get_flows: async (deps, { org, query }) => {
    const filter = filterOf(query);
    const { page, per_page, sort, sort_direction, include } = query;
    if (per_page === undefined) {
      if (include !== undefined)
        throw invalidInput({ "query.include": `latest_trails needs per_page [input: ${include.join(",")}]` });
      const flows = await listFlows(deps.db, org, filter, { sort, sort_direction });
      return { status: 200, body: new JsonPieces(arrayPieces(flows)) };
    }
    const trail_pages = include && deps.links.web(`/${org.name}${flowPage({ flow_name: "" })}`);
    const wanted = { sort, sort_direction, trail_pages, ...pageSlice({ page, per_page }) };
    const { flows, total } = await listFlowPage(deps.db, org, filter, wanted);
    const pagination = JSON.stringify(paginationOf({ page, per_page }, total));
    return { status: 200, body: listAnswer('{"data":', flows, `,"pagination":${pagination}}`) };
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
  unarchive_flow: async (deps, call) => {
    await unarchiveFlow(deps, call, call.params.flow_name);
    return { status: 200, body: "OK" };
  },
  get_flow_statistics: async (deps, { org, params, query }) => ({
    status: 200,
    body: await getFlowStatistics(deps, org, params.flow_name, query),
  }),
  check_flow_template: async (_deps, { org, body }) => ({
    status: 200,
    body: await checkTemplate(org.id, body.template),
  }),
};
