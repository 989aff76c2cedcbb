import { JsonPieces, JsonText } from "../../../contract/endpoint.ts";
import type { liveArtifactEndpoints } from "../../../contract/live-artifacts.ts";
import { readHeavy } from "../../../db/heavy-page.ts";
import { arrayPieces } from "../../../lib/json-array.ts";
import type { Handlers } from "../../kernel/call.ts";
import { getNewestRepoId } from "../../process/repos/service.ts";
import { getLiveArtifacts, listLive } from "./store.ts";

export const liveArtifactHandlers: Handlers<typeof liveArtifactEndpoints> = {
  get_repo_live_artifacts: async (deps, call) => {
    const { db } = deps;
    const repo_id = await getNewestRepoId(db, call.org.id, {
      name: call.params.repo_name,
      provider: call.query.provider,
      id: call.query.id || undefined,
    });
    const asked = { repo_id, api_url: deps.links.api(""), org_name: call.org.name };
    const { entries, artifacts, environments, ...heavy } = await getLiveArtifacts(db, call.org.id, asked);
    const links = `{"_links":${JSON.stringify({ self: { href: call.url } })},"_embedded":{"artifacts":`;
    const places = `,"environments":[${environments}]},"live_artifacts":`;
    if (entries !== null && artifacts !== null)
      return { status: 200, body: new JsonText(`${links}[${artifacts}]${places}[${entries}]}`) };
    const { heavy_entries, heavy_artifacts } = heavy;
    const listOf = (list: "entries" | "artifacts", keys: typeof heavy_entries) =>
      arrayPieces(
        readHeavy(db, keys ?? [], (some) => listLive(db, call.org.id, { ...asked, list, keys: some })),
      );
    async function* pieces(): AsyncGenerator<string> {
      yield links;
      yield* listOf("artifacts", heavy_artifacts);
      yield places;
      yield* listOf("entries", heavy_entries);
      yield "}";
    }
    return { status: 200, body: new JsonPieces(pieces()) };
  },
};
