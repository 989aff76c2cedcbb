import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { callbackPath, flowCookieOf, flowSeconds, providerPath } from "../domain/sign-in/flow.ts";
import { comesFromSite, readCookie, setCookie, siteOf } from "../domain/sessions.ts";
import { createSignInProvider } from "../modules/identity/sign-in-provider/provider-service.ts";
import { beginAtProvider, finishAtProvider } from "../modules/identity/sign-in-provider/service.ts";
import type { Visitor } from "../modules/identity/sessions/service.ts";
import type { ProviderAt } from "../modules/identity/sign-in-provider/sign-out-service.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { shownFailure } from "./error-handler.ts";
import { failurePage, failurePolicy } from "./sign-in-failure-page.ts";
import { registerBackChannel, registerSignOut } from "./sign-out.ts";
import { themeOf } from "./web.ts";

/** Room for the longest address to go on to, sealed. */
const longestFlow = 4000;

/** Says who wants to sign in. */
function visitorOf(request: FastifyRequest): Visitor {
  return {
    browser: { user_agent: request.headers["user-agent"] ?? "", address: request.clientAddress },
    actor: {
      kind: "system",
      id: null,
      name: "anonymous",
      api_key_id: null,
      action: "sign_in",
      request_id: request.id,
      request_digest: null,
      address: request.clientAddress,
    },
  };
}

const pageHeaders = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/** Lets people sign in at the provider that is set, and signs them out there; without one sessions end here alone. */
export function registerSignInProvider(app: FastifyInstance, deps: Deps): void {
  const settings = deps.config.oidc;
  const at = settings === undefined ? undefined : { settings, provider: createSignInProvider(settings) };
  registerSignOut(app, deps, at);
  if (at === undefined) return;
  registerBackChannel(app, deps, at);
  registerSignIn(app, deps, at);
}

function registerSignIn(app: FastifyInstance, deps: Deps, at: ProviderAt): void {
  const site = siteOf(deps.config.publicUrl);
  const flowSite = { ...site, cookie: flowCookieOf(site) };
  const { name, attributes } = flowSite.cookie;
  const flowCookie = (sealed: string, seconds: number): string =>
    `${name}=${sealed}; ${attributes}; Max-Age=${seconds}`;

  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
    const { status } = shownFailure(error);
    if (status >= 500) request.log.warn({ err: error }, "sign-in at the provider failed");
    const page = failurePage({
      status,
      requestId: request.id,
      signInAddress: new URL(deps.links.web("/-/sign-in")).pathname,
      theme: themeOf(request),
    });
    return reply
      .code(status)
      .headers({
        ...(status === 503 ? { "retry-after": "2" } : {}),
        ...pageHeaders,
        "content-security-policy": failurePolicy,
      })
      .type("text/html; charset=utf-8")
      .send(page);
  };

  app.get(providerPath, { exposeHeadRoute: false }, async (request, reply) => {
    try {
      const { next, renew } = request.query as { next?: unknown; renew?: unknown };
      const session = comesFromSite(site, request) ? readCookie(site, request.headers.cookie) : undefined;
      const begun = { next, renew: renew !== undefined, session };
      const { address, sealed } = await beginAtProvider(deps, at.provider, begun);
      return await reply
        .headers({ ...pageHeaders, "set-cookie": flowCookie(sealed, flowSeconds) })
        .redirect(address.href, 303);
    } catch (error) {
      return fail(request, reply, error);
    }
  });

  app.get(callbackPath, { exposeHeadRoute: false }, async (request, reply) => {
    // It is used up, whatever comes of it.
    reply.header("set-cookie", flowCookie("", 0));
    try {
      const sealed = readCookie(flowSite, request.headers.cookie, longestFlow);
      const parameters = new URL(request.url, site.origin).searchParams;
      const { token, next } = await finishAtProvider(deps, at, visitorOf(request), {
        sealed,
        parameters,
      });
      reply.header("set-cookie", setCookie(site, token));
      return await reply.headers(pageHeaders).redirect(deps.links.web(next), 303);
    } catch (error) {
      return fail(request, reply, error);
    }
  });
}
