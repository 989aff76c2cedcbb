import { z } from "zod";

import { keyRuleLimits, noRules } from "../domain/key-rules.ts";
import { instanceAdmin, organizationRole, organizationRoleUnbound } from "./access.ts";
import { AddressList } from "./api-keys.ts";
import { integer, json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

const Days = integer().min(keyRuleLimits.days.min).max(keyRuleLimits.days.max).nullable();

const ruleFields = {
  /** Days after which a secret ends, counted from when it was made or rotated; null for never. */
  max_key_age_days: z.strictObject({ personal: Days.default(null), service: Days.default(null) }),
  /** Whether keys must have an end. */
  require_expiry: z.boolean(),
  /** Days before a key's end in which its owner is told. */
  warn_days: integer().min(keyRuleLimits.warnDays.min).max(keyRuleLimits.warnDays.max),
  /** Days without use after which a key's owner is told; it ends `warn_days` later. Null for never. */
  unused_days: Days,
  /** Networks in CIDR notation that callers have to come from; null for anywhere. */
  allowed_addresses: AddressList.nullable(),
  /** Whether people come in by the sign-in provider alone: sessions that were begun with a key are refused. */
  sso_only: z.boolean(),
};

/** A key that comes near to its end. */
const EndingKey = z
  .object({
    id: z.string(),
    description: z.string(),
    owner_kind: z.enum(["user", "service_account"]),
    /** A user's name, or a service account's; of the installation's list `organization/account`. */
    owner: z.string(),
    ends_at: Timestamp,
    /** Whether rules end it, and not the expiry it was made with. */
    by_rules: z.boolean(),
    /** 0 for never. */
    last_used_at: Timestamp,
  })
  .meta({ id: "EndingKey" });

/** Rules for keys and addresses, and which keys end within 30 days, the first 100 of them. */
const SecurityRules = z
  .object({
    ...ruleFields,
    max_key_age_days: z.object({ personal: z.int().nullable(), service: z.int().nullable() }),
    allowed_addresses: z.array(z.string()).nullable(),
    /** When ages or expiry were last asked for more strictly: keys made before end 30 days after that at the earliest. Null for never. */
    tightened_at: Timestamp.nullable(),
    /** Another one whenever the rules are others. */
    version: z.string(),
    ending_keys: z.array(EndingKey),
  })
  .meta({ id: "SecurityRules" });

const longestVersion = 64;

/** Body of new rules, all of them at once: what is left out is as without rules. */
const SecurityRulesInput = z
  .strictObject({
    max_key_age_days: ruleFields.max_key_age_days.default({ personal: null, service: null }),
    require_expiry: ruleFields.require_expiry.default(false),
    warn_days: ruleFields.warn_days.default(noRules.warn_days),
    unused_days: ruleFields.unused_days.default(null),
    allowed_addresses: ruleFields.allowed_addresses.default(null),
    sso_only: ruleFields.sso_only.default(false),
    /** Of the rules that these are to take the place of: 409 when there are others by now. Left out: of whatever is there. */
    version: z.string().max(longestVersion).optional(),
  })
  .meta({ id: "SecurityRulesInput" });

const tag = "Security";
const description =
  "All rules are set at once. Keys that break an age or expiry that became stricter work for 30 days more. Addresses and `sso_only` count from the next request on; a list of addresses must have the caller's own. With the `version` that was read, rules that somebody else has changed meanwhile are not replaced: 409 with the reason `changed_meanwhile`.";

export const securityEndpoints = {
  get_organization_security: endpoint({
    method: "GET",
    path: "/organizations/{org}/security",
    tag,
    summary: "Get an organization's rules for keys and addresses",
    access: organizationRole("admin"),
    responses: { 200: json("The rules, and which keys end soon", SecurityRules) },
  }),
  put_organization_security: endpoint({
    method: "PUT",
    path: "/organizations/{org}/security",
    tag,
    summary: "Set an organization's rules for keys and addresses",
    description: `${description} Of people's own keys an organization rules only whether they are taken here.`,
    access: organizationRoleUnbound("admin"),
    body: { kind: "json", schema: SecurityRulesInput },
    responses: { 200: json("The rules as they are now, and which keys end soon", SecurityRules) },
  }),
  get_instance_security: endpoint({
    method: "GET",
    path: "/instance/security",
    tag,
    summary: "Get the installation's rules for keys and addresses",
    access: instanceAdmin,
    responses: { 200: json("The rules, and which keys end soon", SecurityRules) },
  }),
  put_instance_security: endpoint({
    method: "PUT",
    path: "/instance/security",
    tag,
    summary: "Set the installation's rules for keys and addresses",
    description: `${description} They hold in every organization, beside its own.`,
    access: instanceAdmin,
    body: { kind: "json", schema: SecurityRulesInput },
    responses: { 200: json("The rules as they are now, and which keys end soon", SecurityRules) },
  }),
} satisfies Endpoints;
