import type { spaceEndpoints } from "../../../contract/spaces.ts";
import { wireId, wireIdOrNull } from "../../../lib/ids.ts";
import type { Handlers } from "../../kernel/call.ts";
import { createSpace, patchSpace, removeSpace } from "./service.ts";
import { listSpaces, type SpaceRow } from "./store.ts";

function present(space: SpaceRow): SpaceRow {
  return {
    ...space,
    id: wireId(space.id),
    parent_id: wireIdOrNull(space.parent_id),
  };
}

export const spaceHandlers: Handlers<typeof spaceEndpoints> = {
  list_spaces: async (deps, call) => ({
    status: 200,
    body: (await listSpaces(deps.db, call.org.id)).map((space) => present(space)),
  }),
  create_space: async (deps, call) => ({
    status: 201,
    body: present(await createSpace(deps, call, call.body)),
  }),
  update_space: async (deps, call) => ({
    status: 200,
    body: present(await patchSpace(deps, call, call.params.space_id, call.body)),
  }),
  delete_space: async (deps, call) => {
    await removeSpace(deps, call, call.params.space_id);
    return { status: 200, body: "OK" };
  },
};
