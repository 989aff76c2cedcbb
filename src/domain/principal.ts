import type { Role } from "./roles.ts";

/** Kinds of principals: who may have keys. */
export const principalKinds = ["user", "service_account"] as const;

/** What a key may less than its owner. */
interface KeyLimits {
  /** The most it may in any organization; null for as much as its owner. */
  role: Role | null;
  /** Whether it works from some networks alone. */
  is_bound: boolean;
}

/** The user or service account whose key or session a request carried. */
export interface Principal {
  kind: (typeof principalKinds)[number];
  id: string;
  /** Login name, or the service account's name. */
  name: string;
  /** The name shown in `created_by` and the like: the display name, else the name. */
  display_name: string;
  /** The key of the request, or the one its session was begun with; null for a session that was begun without. */
  api_key_id: string | null;
  /** Null for a request with a key. */
  session_id: string | null;
  /** The organization of a service account; null for a user. */
  org_id: string | null;
  instance_admin: boolean;
  /** Of the key, or the one its session was begun with. */
  limits: KeyLimits;
  /** Where the request comes from, as `inet` takes it; null where that is not known. */
  address: string | null;
}

/** An organization: its id for statements, its name for texts. */
export interface Org {
  id: string;
  name: string;
}

/** Kinds of organizations: `personal` is a user's own, of the same name; `shared` is one with members. */
export const organizationKinds = ["personal", "shared"] as const;

export type OrganizationKind = (typeof organizationKinds)[number];

/** The organization of a request, with the caller's role there. */
export interface OrgAccess extends Org {
  kind: OrganizationKind;
  public: boolean;
  /** Undefined for somebody without a role who reads a public organization. */
  role: Role | undefined;
}

/** Kinds of actors: who may have made a recorded change. */
export const actorKinds = [...principalKinds, "integration", "system"] as const;

/** Who is recorded as having made a change, and by which request. */
export interface Actor {
  kind: (typeof actorKinds)[number];
  id: string | null;
  name: string;
  api_key_id: string | null;
  /** Operation id, command or job. */
  action: string;
  request_id: string;
  /** SHA-256 of the request's body; null when there was none. */
  request_digest: Buffer | null;
  /** Address of who sent the request; left out where there was none: jobs and commands. */
  address?: string;
}

/** The organization of a write, and on whose behalf it is made. */
export interface OrgScope {
  org: Org;
  actor: Actor;
}
