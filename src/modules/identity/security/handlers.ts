import type { securityEndpoints } from "../../../contract/security.ts";
import { installation } from "../../../domain/key-rules.ts";
import { wireId } from "../../../lib/ids.ts";
import { getRules, type ShownRules } from "../../kernel/access/rules-service.ts";
import type { Call, Handlers } from "../../kernel/call.ts";
import { type RuleChange, setInstanceRules, setOrganizationRules } from "./service.ts";

/** Shows rules: ids as the wire has them, 0 for what never happened. */
function show({ ending_keys, ...rules }: ShownRules) {
  const keys = ending_keys.map((key) => ({
    ...key,
    id: wireId(key.id),
    last_used_at: key.last_used_at ?? 0,
  }));
  return { ...rules, ending_keys: keys };
}

type Put =
  | (typeof securityEndpoints)["put_organization_security"]
  | (typeof securityEndpoints)["put_instance_security"];

function changeOf({ body, actor, peer }: Pick<Call<Put>, "body" | "actor" | "peer">): RuleChange {
  const { version, ...rules } = body;
  return { rules, version, actor, address: peer.address };
}

export const securityHandlers: Handlers<typeof securityEndpoints> = {
  get_organization_security: async (deps, call) => ({
    status: 200,
    body: show(await getRules(deps, call.org.id)),
  }),

  put_organization_security: async (deps, call) => {
    return { status: 200, body: show(await setOrganizationRules(deps, call.org, changeOf(call))) };
  },

  get_instance_security: async (deps) => ({ status: 200, body: show(await getRules(deps, installation)) }),

  put_instance_security: async (deps, call) => {
    return { status: 200, body: show(await setInstanceRules(deps, changeOf(call))) };
  },
};
