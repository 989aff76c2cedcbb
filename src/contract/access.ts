import type { Role } from "../domain/roles.ts";
import type { Access } from "./endpoint.ts";

/** Anybody may read it, credentials or not. */
export const publicAccess = { kind: "public" } as const satisfies Access;

/** Any valid key. */
export const anyUser = { kind: "user" } as const satisfies Access;

/** Users who run the installation. */
export const instanceAdmin = { kind: "instance_admin" } as const satisfies Access;

/** The handler checks the request's signature itself. */
export const signed = { kind: "signature" } as const satisfies Access;

/** Reads of an organization's records: every role, and anybody when the organization is public. */
export const organizationReader = {
  kind: "organization",
  role: "reader",
  anonymous: true,
  unknown: "denied",
} as const satisfies Access;

/** What needs a role in the organization even when the organization is public: writes, keys, members, secrets. */
export function organizationRole(role: Role) {
  return { kind: "organization", role, anonymous: false, unknown: "denied" } as const satisfies Access;
}

/** As `organizationRole`, with the endpoint's own text for members whose role is too low. */
export function organizationRoleOr(role: Role, denied: string) {
  return {
    kind: "organization",
    role,
    anonymous: false,
    unknown: "denied",
    denied,
  } as const satisfies Access;
}
