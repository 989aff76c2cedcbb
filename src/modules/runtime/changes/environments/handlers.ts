import type { environmentEndpoints } from "../../../../contract/environments.ts";
import type { Handlers } from "../../../kernel/call.ts";
import {
  archiveEnvironment,
  joinEnvironment,
  patchEnvironment,
  putEnvironment,
  renameEnvironment,
  unarchiveEnvironment,
} from "./service.ts";

const ok = { status: 200, body: "OK" } as const;

export const environmentChangeHandlers: Handlers<
  Omit<typeof environmentEndpoints, "list_envs" | "get_environment">
> = {
  create_env: async (deps, call) => {
    await putEnvironment(deps, call, call.body);
    return { status: 201, body: "OK" };
  },
  update_env: async (deps, call) => {
    await patchEnvironment(deps, call, call.params.env_name, call.body);
    return ok;
  },
  rename_environment: async (deps, call) => {
    await renameEnvironment(deps, call, call.params.env_name, call.body.new_name);
    return ok;
  },
  archive_env: async (deps, call) => {
    await archiveEnvironment(deps, call, call.params.env_name);
    return ok;
  },
  unarchive_env: async (deps, call) => {
    await unarchiveEnvironment(deps, call, call.params.env_name);
    return ok;
  },
  join_physical_to_logical: async (deps, call) => {
    await joinEnvironment(deps, call, call.params.env_name, call.body.physical_env_name);
    return ok;
  },
};
