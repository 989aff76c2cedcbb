import { JsonText } from "../../../contract/endpoint.ts";
import type { liveArtifactEndpoints } from "../../../contract/live-artifacts.ts";
import type { Handlers } from "../../kernel/call.ts";
import { getNewestRepoId } from "../../process/repos/service.ts";
import { getLiveArtifacts } from "./store.ts";

export const liveArtifactHandlers: Handlers<typeof liveArtifactEndpoints> = {
  get_repo_live_artifacts: async (deps, call) => {
    const repo_id = await getNewestRepoId(deps.db, call.org.id, {
      name: call.params.repo_name,
      provider: call.query.provider,
      id: call.query.id || undefined,
    });
    const { entries, artifacts, environments } = await getLiveArtifacts(deps.db, call.org.id, {
      repo_id,
      api_url: deps.links.api(""),
      org_name: call.org.name,
    });
    const links = JSON.stringify({ self: { href: call.url } });
    const embedded = `{"artifacts":[${artifacts}],"environments":[${environments}]}`;
    const text = `{"_links":${links},"_embedded":${embedded},"live_artifacts":[${entries}]}`;
    return { status: 200, body: new JsonText(text) };
  },
};
