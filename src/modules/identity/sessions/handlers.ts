import type { sessionEndpoints } from "../../../contract/sessions.ts";
import { pageOf } from "../../../contract/pagination.ts";
import { forbidden } from "../../../domain/errors.ts";
import { providerInstead } from "../../../domain/key-rules.ts";
import { setCookie, siteOf } from "../../../domain/sessions.ts";
import { providerName, providerPath } from "../../../domain/sign-in/flow.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { isProviderRequired } from "../../kernel/access/rules-service.ts";
import { certificateNeeded } from "../../kernel/access/service.ts";
import { listSessionsOf, ownerOf } from "../../kernel/access/session-service.ts";
import type { Call, Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import {
  type SignedIn,
  signInWithKey,
  signInWithLink,
  signOut,
  signOutElsewhere,
  visitorOf,
} from "./service.ts";

type Endpoints = typeof sessionEndpoints;

function signIn(deps: Deps, call: Call<Endpoints["create_user_session"]>): Promise<SignedIn> {
  const { body, peer } = call;
  const visitor = visitorOf(call);
  if (body.token === undefined && isProviderRequired(deps)) throw forbidden(providerInstead);
  if (body.token === undefined && !peer.mayUseKeys) throw certificateNeeded();
  const origin = call.headers["origin"]?.toString();
  return body.token === undefined
    ? signInWithKey(deps, visitor, body.api_key ?? "")
    : signInWithLink(deps, { ...visitor, isThisMachine: peer.isThisMachine, origin }, body.token);
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
    body: { methods: [...(isProviderRequired(deps) ? [] : [apiKeyMethod]), ...providerMethods(deps)] },
  }),

  create_user_session: async (deps, call) => {
    const { user, token } = await signIn(deps, call);
    return { status: 201, body: user, headers: cookieHeader(deps, token) };
  },

  list_user_sessions: async (deps, call) => {
    const { principal, query } = call;
    const sessions = await listSessionsOf(deps, ownerOf(principal), principal.session_id);
    return { status: 200, body: pageOf(sessions, query) };
  },

  delete_user_sessions: async (deps, call) => {
    await signOutElsewhere(deps, call);
    return { status: 200, body: "OK" };
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
