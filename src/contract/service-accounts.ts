import { z } from "zod";

import {
  serviceAccountDescriptionLength,
  serviceAccountNameLength,
  serviceAccountNamePattern,
} from "../domain/names.ts";
import { organizationRole } from "./access.ts";
import { ApiKey, ApiKeyPostInput, ApiKeyRotateInput, CreatedApiKey, RotatedApiKey } from "./api-keys.ts";
import { json, okResponse, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { RoleName } from "./role.ts";

/** A caller that is not a person, with one role in one shared organization (contract 14.1). */
const ServiceAccount = z
  .object({
    name: z.string(),
    display_name: z.string(),
    /** Empty when there is none. */
    description: z.string(),
    privilege: RoleName,
    created_at: Timestamp,
    /** Id of the user or service account that made it. */
    creating_user_id: z.string(),
    /** Whether it was made for an inbound webhook. */
    for_webhook: z.boolean(),
  })
  .meta({ id: "ServiceAccount" });

const Name = z
  .string()
  .min(serviceAccountNameLength.min)
  .max(serviceAccountNameLength.max)
  .regex(serviceAccountNamePattern);
const Description = z.string().max(serviceAccountDescriptionLength);

/** Body of a new service account. */
const ServiceAccountPostInput = z
  .object({ name: Name, description: Description.nullish(), privilege: RoleName.default("reader") })
  .meta({ id: "ServiceAccountPostInput" });

/** Body of an update. What is absent stays, and so does a null privilege; a null description clears it. */
const ServiceAccountPatchInput = z
  .object({ description: Description.nullish(), privilege: RoleName.nullish() })
  .meta({ id: "ServiceAccountPatchInput" });

const NameInPath = z.object({ name: Name });
const tag = "Service Accounts";
const accounts = "/service-accounts/{org}";
const keys = `${accounts}/{name}/api-keys` as const;

/**
 * The access of managing accounts and keys, from snapshotter on; the handler checks whose account it is (contract 2,
 * 14).
 */
const manager = organizationRole("snapshotter");

export const serviceAccountEndpoints = {
  list_service_accounts: endpoint({
    method: "GET",
    path: accounts,
    tag,
    summary: "List service accounts",
    access: organizationRole("reader"),
    responses: { 200: json("The accounts by name", z.array(ServiceAccount)) },
  }),
  create_service_account: endpoint({
    method: "POST",
    path: accounts,
    tag,
    summary: "Create a service account",
    description: "Its privilege cannot be above the caller's own role. It has no key yet. Not idempotent.",
    access: manager,
    body: { kind: "json", schema: ServiceAccountPostInput },
    responses: { 201: json("The new account", ServiceAccount) },
  }),
  get_service_account: endpoint({
    method: "GET",
    path: `${accounts}/{name}`,
    tag,
    summary: "Get a service account",
    access: organizationRole("reader"),
    params: NameInPath,
    responses: { 200: json("The account", ServiceAccount) },
  }),
  update_service_account: endpoint({
    method: "PATCH",
    path: `${accounts}/{name}`,
    tag,
    summary: "Change a service account",
    description:
      "Its creator and admins change the description, admins the privilege. It acts at once. A key that is bound to networks raises no privilege, and one for less than its account leaves that of its own as it is.",
    access: manager,
    params: NameInPath,
    body: { kind: "json", schema: ServiceAccountPatchInput },
    responses: { 200: json("The account as it is now", ServiceAccount) },
  }),
  delete_service_account: endpoint({
    method: "DELETE",
    path: `${accounts}/{name}`,
    tag,
    summary: "Remove a service account and its keys",
    description:
      "For its creator and admins. The keys stop working at once; the name becomes free. A key for less than its account does not remove its own.",
    access: manager,
    params: NameInPath,
    responses: { 200: okResponse },
  }),
  list_service_account_api_keys: endpoint({
    method: "GET",
    path: keys,
    tag,
    summary: "List the active keys of a service account",
    description: "For its creator and admins.",
    access: manager,
    responses: { 200: json("The keys, oldest first", z.array(ApiKey)) },
  }),
  create_service_account_api_key: endpoint({
    method: "POST",
    path: keys,
    tag,
    summary: "Make a key for a service account",
    description:
      "The key's value is in this reply only. A key that is bound to networks makes keys that are bound to them: to all of them where `allowed_addresses` is left out. Not idempotent: each call makes a key.",
    access: manager,
    recentSignIn: true,
    body: { kind: "json", schema: ApiKeyPostInput },
    responses: { 201: json("The key, with its value", CreatedApiKey) },
  }),
  get_service_account_api_key: endpoint({
    method: "GET",
    path: `${keys}/{key_id}`,
    tag,
    summary: "Get one active key of a service account",
    access: manager,
    responses: { 200: json("The key", ApiKey) },
  }),
  delete_service_account_api_key: endpoint({
    method: "DELETE",
    path: `${keys}/{key_id}`,
    tag,
    summary: "Revoke a key of a service account",
    access: manager,
    recentSignIn: false,
    responses: { 200: json("It no longer works", z.literal("revoked")) },
  }),
  rotate_service_account_api_key: endpoint({
    method: "POST",
    path: `${keys}/{key_id}/rotate`,
    tag,
    summary: "Rotate a key",
    description:
      "The key keeps its id and gets another secret. The former secret works until `grace_period_expires_at`: for the grace period, though no longer than it would have without. Secrets it had before that end then, too, or sooner. `expires_at` is the key's new end; without it the one it has stays, and 0 is never. A key that is bound to networks rotates those alone that are bound within them. Not idempotent: each call makes a secret. Revoking the key ends all of its secrets at once.",
    access: manager,
    recentSignIn: true,
    body: { kind: "json", schema: ApiKeyRotateInput },
    responses: { 201: json("The key, with its new value", RotatedApiKey) },
  }),
} satisfies Endpoints;
