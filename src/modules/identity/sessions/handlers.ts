import type { sessionEndpoints } from "../../../contract/sessions.ts";
import { paginationOf } from "../../../contract/pagination.ts";
import { setCookie, siteOf } from "../../../domain/sessions.ts";
import { providerName, providerPath } from "../../../domain/sign-in/flow.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { listOwnSessions } from "../../kernel/access/session-service.ts";
import type { Call, Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type SignedIn, signInWithKey, signInWithLink, signOut, visitorOf } from "./service.ts";

type Endpoints = typeof sessionEndpoints;

function signIn(deps: Deps, call: Call<Endpoints["create_user_session"]>): Promise<SignedIn> {
  const { body, peer } = call;
  const visitor = visitorOf(call);
  return body.token === undefined
    ? signInWithKey(deps, visitor, body.api_key ?? "")
    : signInWithLink(deps, { ...visitor, isThisMachine: peer.isThisMachine }, body.token);
}

/** Makes the header that sets the session's cookie, or takes it away. */
function cookieHeader(deps: Pick<Deps, "config">, token?: string): Record<string, string> {
  return { "set-cookie": setCookie(siteOf(deps.config.publicUrl), token) };
}

const apiKeyMethod = { kind: "api_key", name: "api_key", display_name: "API key", address: null } as const;

function providerMethods({ config: { oidc }, links }: Pick<Deps, "config" | "links">) {
  if (oidc === undefined) return [];
  const { host } = new URL(oidc.issuer);
  const address = links.web(providerPath);
  return [{ kind: "oidc" as const, name: providerName, display_name: host, address }];
}

export const sessionHandlers: Handlers<Endpoints> = {
  list_sign_in_methods: async (deps) => ({
    status: 200,
    body: { methods: [apiKeyMethod, ...providerMethods(deps)] },
  }),

  create_user_session: async (deps, call) => {
    const { user, token } = await signIn(deps, call);
    return { status: 201, body: user, headers: cookieHeader(deps, token) };
  },

  list_user_sessions: async (deps, call) => {
    const sessions = await listOwnSessions(deps, call.principal);
    const { page, per_page } = call.query;
    const data = sessions.slice((page - 1) * per_page, page * per_page);
    return { status: 200, body: { data, pagination: paginationOf(call.query, sessions.length) } };
  },

  delete_current_user_session: async (deps, call) => {
    await signOut(deps, call, call.principal.session_id);
    return { status: 200, body: "OK", headers: cookieHeader(deps) };
  },

  delete_user_session: async (deps, call) => {
    const id = parseWireId(call.params.session_id);
    await signOut(deps, call, id);
    const isCurrent = id === call.principal.session_id;
    return { status: 200, body: "OK", headers: isCurrent ? cookieHeader(deps) : {} };
  },
};
