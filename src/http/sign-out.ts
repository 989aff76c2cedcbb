import type { FastifyInstance, FastifyRequest } from "fastify";

import { anyUser } from "../contract/access.ts";
import type { Actor } from "../domain/principal.ts";
import { comesFromSite, readCookie, setCookie, siteOf } from "../domain/sessions.ts";
import { backChannelPath, signOutPath } from "../domain/sign-in/flow.ts";
import {
  endAtProvider,
  type ProviderAt,
  signOutEverywhere,
} from "../modules/identity/sign-in-provider/sign-out-service.ts";
import { unauthenticated } from "../modules/kernel/access/service.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { actorOf, refusalTo } from "./actor.ts";
import { authorizeRequest } from "./authorize-request.ts";
import { pathOf } from "./path.ts";
import { receiveBytes } from "./receive-bytes.ts";

/** Room for a logout token with long names and a signature of any kind. */
const longestForm = 32 * 1024;

function wantsPage(request: FastifyRequest): boolean {
  return /\btext\/html\b/.test(request.headers.accept ?? "");
}

/**
 * Signs a person out, here and where they signed in. The body says where their browser has to go for that, `{"address": URL or null}`;
 * one that sent a form is led there.
 * @param at the provider that is set; undefined without one.
 */
export function registerSignOut(app: FastifyInstance, deps: Deps, at: ProviderAt | undefined): void {
  const site = siteOf(deps.config.publicUrl);
  app.post(signOutPath, { bodyLimit: longestForm }, async (request, reply) => {
    const caller = await authorizeRequest(deps, request, {
      authorization: request.headers.authorization,
      cookie: readCookie(site, request.headers.cookie),
      isFromSite: () => comesFromSite(site, request),
      access: anyUser,
      needsRecentSignIn: false,
      org: undefined,
      path: pathOf(request),
      address: request.clientAddress,
      onWrongAddress: refusalTo(deps, request, "sign_out"),
    });
    request.caller = caller;
    const { principal } = caller;
    if (principal === undefined) throw unauthenticated();
    const actor = actorOf(request, "sign_out", null);
    const address = await signOutEverywhere(deps, at, { principal, actor });
    reply.header("set-cookie", setCookie(site));
    if (wantsPage(request)) return reply.redirect(address?.href ?? deps.links.web("/-/sign-in"), 303);
    return reply.send({ address: address?.href ?? null });
  });
}

/** Reads the one field that matters of a form; undefined where it is missing or stands there twice. */
function logoutTokenOf(body: unknown): string | undefined {
  const tokens = body instanceof URLSearchParams ? body.getAll("logout_token") : [];
  return tokens.length === 1 ? tokens[0] : undefined;
}

/** Lets the provider end sessions (OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8). */
export function registerBackChannel(app: FastifyInstance, deps: Deps, at: ProviderAt): void {
  void app.register(async (scope) => {
    scope.addContentTypeParser(
      /^application\/x-www-form-urlencoded\b/i,
      async (request: FastifyRequest) => new URLSearchParams((await receiveBytes(request)).toString("utf8")),
    );
    scope.post(backChannelPath, { bodyLimit: longestForm }, async (request, reply) => {
      const actor: Actor = {
        kind: "system",
        id: null,
        name: "sign-in provider",
        api_key_id: null,
        action: "session_revoked",
        request_id: request.id,
        request_digest: null,
        address: request.clientAddress,
      };
      const token = logoutTokenOf(request.body);
      if (token !== undefined && (await endAtProvider(deps, at, actor, token))) return reply.code(200).send();
      request.log.warn({ address: request.clientAddress }, "a logout token was refused");
      return reply
        .code(400)
        .send({ error: "invalid_request", error_description: "The logout token is not valid" });
    });
  });
}
