import type { FlowList, flowEndpoints, FlowsQuery } from "../../contract/flows.ts";
import { paginationOf } from "../../contract/pagination.ts";
import { legacyTemplateText } from "../../domain/template/stored.ts";
import { parseWireId } from "../../lib/ids.ts";
import type { Handlers } from "../call.ts";
import { countFlows, type FlowFilter, type ListedFlowRow, listFlows } from "./list-store.ts";
import { archiveFlow, getFlow, moveFlow, putFlow, renameFlow } from "./service.ts";
import { complainByLocation, readTemplateFile } from "./template-text.ts";

/** `key` or `key:value`; keys hold no colon. */
function tagFilter(tags: readonly string[] | undefined): FlowFilter["tags"] {
  if (tags === undefined) return undefined;
  const keys = tags.filter((tag) => !tag.includes(":"));
  const pairs = tags
    .filter((tag) => tag.includes(":"))
    .map((tag) => ({ [tag.slice(0, tag.indexOf(":"))]: tag.slice(tag.indexOf(":") + 1) }));
  return { keys, pairs };
}

function filterOf(query: FlowsQuery): FlowFilter {
  return {
    search: query.search_by_name || undefined,
    case_sensitive: query.case_sensitive,
    space_ids: query.space_id?.flatMap((id) => parseWireId(id) ?? []),
    tags: tagFilter(query.tag),
  };
}

function listed(org: string): (row: ListedFlowRow) => FlowList {
  return (row) => ({ ...row, org });
}

export const flowHandlers: Handlers<typeof flowEndpoints> = {
  get_flows: async (deps, { org, query }) => {
    const filter = filterOf(query);
    const { page, per_page, sort, sort_direction } = query;
    const order = { sort, sort_direction };
    if (per_page === undefined) {
      const rows = await listFlows(deps.db.query, org.id, filter, order);
      return { status: 200, body: rows.map(listed(org.name)) };
    }
    const [rows, total] = await Promise.all([
      listFlows(deps.db.query, org.id, filter, { ...order, limit: per_page, offset: (page - 1) * per_page }),
      countFlows(deps.db.query, org.id, filter),
    ]);
    return {
      status: 200,
      body: { data: rows.map(listed(org.name)), pagination: paginationOf({ page, per_page }, total) },
    };
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
    const template = readTemplateFile(call.files.template_file, complainByLocation);
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
