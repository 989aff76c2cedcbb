import type { policyPreviewEndpoints } from "../../contract/policy-preview.ts";
import type { Handlers } from "../call.ts";
import { policyFileRequired, readPolicyFile } from "./policy-file.ts";
import { preview } from "./preview-service.ts";

export const policyPreviewHandlers: Handlers<typeof policyPreviewEndpoints> = {
  preview_policy: async (deps, { org, body, files }) => {
    if (files.policy_file === undefined) throw policyFileRequired();
    const { policy } = await readPolicyFile(org.id, files.policy_file);
    const environments = await preview(deps, org, { ...body, policy });
    const compliant = environments.every(({ snapshots }) =>
      snapshots.every(({ would_be_compliant }) => would_be_compliant),
    );
    return { status: 200, body: { compliant, environments } };
  },
};
