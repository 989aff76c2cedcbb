import type { policyEndpoints } from "../../../../contract/policies.ts";
import type { Handlers } from "../../../kernel/call.ts";
import { attachOrDetach } from "./attachment-service.ts";
import { readPolicyFile } from "../../rules/policies/policy-file.ts";
import { readAllPolicies, readPolicy } from "./read-service.ts";
import { putPolicy } from "./service.ts";

export const policyHandlers: Handlers<typeof policyEndpoints> = {
  list_policies: async (deps, { org }) => ({
    status: 200,
    body: await readAllPolicies(deps, org),
  }),
  put_policy: async (deps, call) => {
    const { name, description, comment } = call.body;
    const { policy_file } = call.files;
    const file = policy_file === undefined ? undefined : await readPolicyFile(call.org.id, policy_file);
    const outcome = await putPolicy(deps, call, { name, description, comment, file });
    const body = await readPolicy(deps, call.org, name);
    return outcome === "created" ? { status: 201, body } : { status: 200, body };
  },
  get_policy: async (deps, { org, params }) => ({
    status: 200,
    body: await readPolicy(deps, org, params.policy_name),
  }),
  attach_policy_to_env: async (deps, call) => {
    const { env_name: environment } = call.params;
    await attachOrDetach(deps, call, { environment, names: call.body.policy_names, kind: "attach" });
    return { status: 200, body: "OK" };
  },
  detach_policy_from_env: async (deps, call) => {
    const { env_name: environment } = call.params;
    await attachOrDetach(deps, call, { environment, names: call.body.policy_names, kind: "detach" });
    return { status: 200, body: "OK" };
  },
};
