import { JsonText } from "../../../contract/endpoint.ts";
import type { tagEndpoints } from "../../../contract/tags.ts";
import type { Handlers } from "../../kernel/call.ts";
import { patchTags, readTagChoices } from "./service.ts";

export const tagHandlers: Handlers<typeof tagEndpoints> = {
  list_tag_choices: async (deps, { org, params, query }) => {
    const { tags, truncated } = await readTagChoices(deps.db, org, params, query.search);
    return { status: 200, body: new JsonText(`{"tags":${tags},"truncated":${truncated}}`) };
  },
  patch_tags: async (deps, call) => {
    await patchTags(deps, call, call.params, call.body);
    return { status: 200, body: "OK" };
  },
};
