import type { Role } from "../domain/roles.ts";
import type { Access } from "./endpoint.ts";

/** Anybody, with credentials or without. */
export const publicAccess = { kind: "public" } as const satisfies Access;

/** Anybody, from a page of this server. */
export const siteAccess = { kind: "site" } as const satisfies Access;

/** Any valid key, or a session. */
export const anyUser = { kind: "user" } as const satisfies Access;

/** Users who run the installation. */
export const instanceAdmin = { kind: "instance_admin" } as const satisfies Access;

/** Users who run the installation, and programs that watch it. */
export const instanceAdminOrMetrics = {
  kind: "instance_admin",
  orMetricsToken: true,
} as const satisfies Access;

/** Callers whose signature the handler checks. */
export const signed = { kind: "signature" } as const satisfies Access;

/** Every role in the organization, and anybody when the organization is public: for reads of its records. */
export const organizationReader = {
  kind: "organization",
  role: "reader",
  anonymous: true,
  unknown: "denied",
} as const satisfies Access;

/** Requires a role in the organization even when that is public: for writes, keys, members, secrets. */
export function organizationRole(role: Role) {
  return { kind: "organization", role, anonymous: false, unknown: "denied" } as const satisfies Access;
}

/** Requires a role as `organizationRole` does, by a key that works from anywhere: for what lets others in, who may come from anywhere. */
export function organizationRoleUnbound(role: Role) {
  return { ...organizationRole(role), unbound: true } as const satisfies Access;
}

/** Requires a role as `organizationRole` does, with the endpoint's own text for members whose role is too low. */
export function organizationRoleOr(role: Role, denied: string) {
  return {
    kind: "organization",
    role,
    anonymous: false,
    unknown: "denied",
    denied,
  } as const satisfies Access;
}
