import { ask as askSite } from "./site.ts";
import { uniqueName } from "./unique-name.ts";
import type { WebSite } from "./web.ts";

/** An organization that one test file has for itself, beside the demo's that all share. */
export interface OwnOrganization {
  name: string;
  /**
   * Sends a request of the API with the site's key.
   * @param path below `/api/v2`.
   * @param body what becomes JSON, or a form.
   * @returns the answer's JSON.
   * @throws where it is refused, with what the server says.
   */
  ask<T = unknown>(method: string, path: string, body?: object): Promise<T>;
  /** Makes a service account with a role, and a key of it. */
  keyFor(role: string): Promise<string>;
  /** Stores a policy. @param yaml its text. */
  putPolicy(policyName: string, yaml: string): Promise<void>;
}

/**
 * Makes an organization whose content no other test sees, nor another try of the same.
 * @param prefix what its name begins with.
 */
export async function makeOrganization(site: WebSite, prefix: string): Promise<OwnOrganization> {
  const name = uniqueName(prefix);
  const ask = <T>(method: string, path: string, body?: object): Promise<T> =>
    askSite(site, method, path, body);
  await ask("POST", "/organizations", { name, display_name: name });
  return {
    name,
    ask,
    keyFor: async (role) => {
      const account = uniqueName(role);
      await ask("POST", `/service-accounts/${name}`, { name: account, privilege: role });
      const made = await ask<{ key: string }>("POST", `/service-accounts/${name}/${account}/api-keys`, {
        description: "for a test",
      });
      return made.key;
    },
    putPolicy: async (policyName, yaml) => {
      const form = new FormData();
      form.append("payload", JSON.stringify({ name: policyName }));
      form.append("policy_file", new Blob([yaml], { type: "text/yaml" }), "policy.yaml");
      await ask("PUT", `/policies/${name}`, form);
    },
  };
}
