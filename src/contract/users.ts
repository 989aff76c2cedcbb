import { z } from "zod";

import { anyUser } from "./access.ts";
import { ApiKey, ApiKeyPostInput, CreatedApiKey } from "./api-keys.ts";
import { json, okResponse } from "./common.ts";
import { CurrentUser } from "./current-user.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/** The organization that a user works in by default; empty when they chose none (contract 16). */
const DefaultOrganization = z.object({ default_org_name: z.string() }).meta({ id: "DefaultOrg" });

export const userEndpoints = {
  get_user: endpoint({
    method: "GET",
    path: "/user",
    tag: "User",
    summary: "Get the caller",
    access: anyUser,
    responses: { 200: json("The owner of the key or session, and the session", CurrentUser) },
  }),
  get_user_default_org: endpoint({
    method: "GET",
    path: "/user/default-org",
    tag: "User",
    summary: "Get the caller's default organization",
    description: "A service account's default organization is the one it belongs to.",
    access: anyUser,
    responses: { 200: json("The name of the organization, empty when there is none", DefaultOrganization) },
  }),
  put_user_default_org: endpoint({
    method: "PUT",
    path: "/user/{org}",
    tag: "User",
    summary: "Set the caller's default organization",
    description: "It must be one the caller has a role in.",
    access: anyUser,
    responses: { 200: okResponse },
  }),
  list_user_api_keys: endpoint({
    method: "GET",
    path: "/user/api-keys",
    tag: "User",
    summary: "List the caller's own active API keys",
    access: anyUser,
    responses: { 200: json("The keys, oldest first", z.array(ApiKey)) },
  }),
  create_user_api_key: endpoint({
    method: "POST",
    path: "/user/api-keys",
    tag: "User",
    summary: "Make a personal API key",
    description:
      "The key's value is in this reply only. Where everybody has to sign in at the provider (`WAYBILL_OIDC_REQUIRE`), only a session that was begun there makes keys: else 403. Not idempotent: each call makes a key.",
    access: anyUser,
    recentSignIn: true,
    body: { kind: "json", schema: ApiKeyPostInput },
    responses: { 201: json("The key, with its value", CreatedApiKey) },
  }),
  delete_user_api_key: endpoint({
    method: "DELETE",
    path: "/user/api-keys/{key_id}",
    tag: "User",
    summary: "Revoke one of the caller's own API keys",
    access: anyUser,
    recentSignIn: false,
    responses: { 200: json("It no longer works", z.literal("revoked")) },
  }),
} satisfies Endpoints;
