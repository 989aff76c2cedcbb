import { flowEndpoints } from "../../src/contract/flows.ts";
import { tagEndpoints } from "../../src/contract/tags.ts";
import { type Flow, flows, releaseFlow } from "../data/flows.ts";
import { templateOf } from "../model/flows.ts";
import type { Demo } from "../plan.ts";
import type { SpaceIds } from "./spaces.ts";

async function createFlow({ api, org }: Demo, flow: Flow, spaceId: string | undefined): Promise<void> {
  const params = { org, flow_name: flow.name };
  await api.call(flowEndpoints.create_flow_with_template, {
    params: { org },
    body: { name: flow.name, description: flow.description },
    files: { template_file: { filename: "template.yml", text: templateOf(flow) } },
  });
  if (spaceId !== undefined)
    await api.call(flowEndpoints.update_flow, { params, body: { space_id: spaceId } });
  await api.call(tagEndpoints.patch_tags, {
    params: { org, resource_type: "flow", resource_id: flow.name },
    body: { set_tags: flow.tags },
  });
}

/** Creates the flows with templates and tags, in their spaces, and one more that is archived. */
export function createFlows(demo: Demo, spaceIds: SpaceIds): Promise<void> {
  const { api, org } = demo;
  const all = [...flows, releaseFlow];
  return demo.progress.step("Flows", all.length + 1, async (advance) => {
    for (const flow of all) {
      await createFlow(demo, flow, spaceIds.get(flow.space));
      advance();
    }
    await createFlow(
      demo,
      { ...releaseFlow, name: "nightly-batch", description: "Given up in spring" },
      undefined,
    );
    await api.call(flowEndpoints.archive_flow, { params: { org, flow_name: "nightly-batch" } });
    advance();
  });
}
