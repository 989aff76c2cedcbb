import { z } from "zod";

import { anyUser, publicAccess, siteAccess } from "./access.ts";
import { json, okResponse } from "./common.ts";
import { CurrentUser, Session } from "./current-user.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { hidingInput } from "./hidden-input.ts";
import { PaginationInfo } from "./pagination.ts";
import { integerParameter, pageParameter } from "./parameters.ts";

/** What people sign in with: an API key, or the token of a link. */
const Secret = z.string().min(1).max(512);

/** Body of signing in: one of the two. */
const SignInInput = hidingInput(
  z
    .strictObject({ api_key: Secret.optional(), token: Secret.optional() })
    .refine(({ api_key, token }) => (api_key === undefined) !== (token === undefined), {
      message: "Either api_key or token is required",
    }),
  [],
).meta({ id: "SignInInput" });

/** A way to sign in. */
const SignInMethod = z
  .object({
    /** `api_key`: send one to `POST /user/sessions`. `oidc`: go to the address. */
    kind: z.enum(["api_key", "oidc"]),
    name: z.string(),
    display_name: z.string(),
    /** Where to go; null where there is nowhere to go. */
    address: z.string().nullable(),
  })
  .meta({ id: "SignInMethod" });

/** Which page of sessions is asked for. */
export const SessionListQuery = z.object({
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).default(20),
});

/** Answer with a page of somebody's sessions. */
export const sessionList = json(
  "Sessions that work, the latest first; nobody has more than 100",
  z.object({ data: z.array(Session), pagination: PaginationInfo }),
);

export const sessionEndpoints = {
  list_sign_in_methods: endpoint({
    method: "GET",
    path: "/sign-in/methods",
    tag: "User",
    summary: "List the ways to sign in",
    access: publicAccess,
    responses: { 200: json("The ways", z.object({ methods: z.array(SignInMethod) })) },
  }),
  create_user_session: endpoint({
    method: "POST",
    path: "/user/sessions",
    tag: "User",
    summary: "Sign in",
    description:
      "With an API key, or with the token of a link that signs in once. The answer sets the session's cookie, which ends after 12 hours without use, after 30 days, and with the key. Whatever the secret is refused for, the answer is 401 and takes the same time. After 10 failures within a minute an address is told to wait (429). Where everybody has to sign in at the provider (`WAYBILL_OIDC_REQUIRE`), keys are refused with 403 unread, and `GET /sign-in/methods` does not list them. Not idempotent: each call begins a session.",
    access: siteAccess,
    body: { kind: "json", schema: SignInInput },
    responses: { 201: json("Signed in; the header Set-Cookie has the session", CurrentUser) },
  }),
  list_user_sessions: endpoint({
    method: "GET",
    path: "/user/sessions",
    tag: "User",
    summary: "List the caller's own sessions",
    access: anyUser,
    query: SessionListQuery,
    responses: { 200: sessionList },
  }),
  delete_user_sessions: endpoint({
    method: "DELETE",
    path: "/user/sessions",
    tag: "User",
    summary: "End the caller's other sessions",
    description: "All of them, for a request with a key. Repeating it ends what was begun meanwhile.",
    access: anyUser,
    recentSignIn: false,
    responses: { 200: okResponse },
  }),
  delete_current_user_session: endpoint({
    method: "DELETE",
    path: "/user/sessions/current",
    tag: "User",
    summary: "Sign out",
    description: "Ends the session of this request and takes its cookie away. 404 for a request with a key.",
    access: anyUser,
    recentSignIn: false,
    responses: { 200: okResponse },
  }),
  delete_user_session: endpoint({
    method: "DELETE",
    path: "/user/sessions/{session_id}",
    tag: "User",
    summary: "End one of the caller's own sessions",
    access: anyUser,
    recentSignIn: false,
    responses: { 200: okResponse },
  }),
} satisfies Endpoints;
