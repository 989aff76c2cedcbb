import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { callbackPath, flowCookieOf, flowSeconds, providerPath } from "../domain/sign-in/flow.ts";
import { readCookie, setCookie, siteOf } from "../domain/sessions.ts";
import { createSignInProvider } from "../modules/identity/sign-in-provider/provider-service.ts";
import { beginAtProvider, finishAtProvider } from "../modules/identity/sign-in-provider/service.ts";
import type { Visitor } from "../modules/identity/sessions/service.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { shownFailure } from "./error-handler.ts";

/** Sentences for people; what is wrong in detail is in the log under the request's id. */
const sentences: Readonly<Record<number, string>> = {
  401: "The sign-in could not be completed. It may have taken too long, or been begun in another window.",
  429: "There were too many failed attempts to sign in. Wait a minute, then try again.",
  503: "The sign-in provider cannot be reached, or this server cannot work at the moment. Those who are signed in stay so. Try again later.",
};
const otherwise = "The sign-in failed.";

/** Room for the longest address to go on to, sealed. */
const longestFlow = 4000;

/** Makes the page that tells of a failure. It has nothing in it that the provider or the browser sent. */
function failurePage(status: number, requestId: string, signInAddress: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>Sign in · Waybill</title></head>
<body><main><h1>You are not signed in</h1><p>${sentences[status] ?? otherwise}</p>
<p><a href="${signInAddress}">Back to the sign-in page</a></p><p>Request <code>${requestId}</code></p></main></body></html>
`;
}

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
    },
  };
}

const pageHeaders = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/** Lets people sign in at the provider that is set; nothing is served without one. */
export function registerSignInProvider(app: FastifyInstance, deps: Deps): void {
  const settings = deps.config.oidc;
  if (settings === undefined) return;
  const provider = createSignInProvider(settings);
  const site = siteOf(deps.config.publicUrl);
  const flowSite = { ...site, cookie: flowCookieOf(site) };
  const { name, attributes } = flowSite.cookie;
  const flowCookie = (sealed: string, seconds: number): string =>
    `${name}=${sealed}; ${attributes}; Max-Age=${seconds}`;

  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
    const { status } = shownFailure(error);
    if (status >= 500) request.log.warn({ err: error }, "sign-in at the provider failed");
    const address = new URL(deps.links.web("/-/sign-in")).pathname;
    return reply
      .code(status)
      .headers(pageHeaders)
      .type("text/html; charset=utf-8")
      .send(failurePage(status, request.id, address));
  };

  app.get(providerPath, { exposeHeadRoute: false }, async (request, reply) => {
    try {
      const { next } = request.query as { next?: unknown };
      const { address, sealed } = await beginAtProvider(deps, provider, next);
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
      const { token, next } = await finishAtProvider(deps, { settings, provider }, visitorOf(request), {
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
