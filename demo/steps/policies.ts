import { allowlistEndpoints } from "../../src/contract/allowlists.ts";
import { policyEndpoints } from "../../src/contract/policies.ts";
import { policies } from "../data/policies.ts";
import { shown } from "../data/sites.ts";
import { images, sites } from "../model/sites.ts";
import type { Demo } from "../plan.ts";

/**
 * Creates the company's policies, attaches them to production, and puts an image that they would refuse on the
 * allow-list.
 */
export function createPolicies({ api, org, progress }: Demo): Promise<void> {
  const watched = sites.filter((site) => site.policies.length > 0);
  return progress.step("Policies", policies.length + watched.length + 1, async (advance) => {
    for (const { name, description, yaml } of policies) {
      await api.call(policyEndpoints.put_policy, {
        params: { org },
        body: { name, description, comment: "first" },
        files: { policy_file: { filename: `${name}.yaml`, text: yaml } },
      });
      advance();
    }
    for (const site of watched) {
      await api.call(policyEndpoints.attach_policy_to_env, {
        params: { org, env_name: site.name },
        body: { policy_names: [...site.policies] },
      });
      advance();
    }
    await api.call(allowlistEndpoints.allow_artifact_for_env, {
      params: { org, env_name: shown.prod },
      body: {
        artifact_name: images.cache.name,
        artifact_fingerprint: images.cache.fingerprint,
        description: "From the library as it is, read and approved by Platform (HL-2041)",
      },
    });
    advance();
  });
}
