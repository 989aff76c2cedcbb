import type { tagEndpoints } from "../../contract/tags.ts";
import type { Handlers } from "../call.ts";
import { patchTags } from "./service.ts";

export const tagHandlers: Handlers<typeof tagEndpoints> = {
  patch_tags: async (deps, call) => {
    await patchTags(deps, call, call.params, call.body);
    return { status: 200, body: "OK" };
  },
};
