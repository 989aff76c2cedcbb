import type { Role } from "./roles.ts";

/** Whose key a request carried. */
export interface Principal {
  kind: "user" | "service_account";
  id: string;
  /** Login name, or the service account's name. */
  name: string;
  /** Shown in `created_by` and the like: display name, else the name. */
  display_name: string;
  api_key_id: string;
  instance_admin: boolean;
}

/** The organization a request is about, and what the caller is there. */
export interface OrgAccess {
  id: string;
  name: string;
  kind: "personal" | "shared";
  public: boolean;
  /** Undefined for somebody without a role who reads a public organization. */
  role: Role | undefined;
}

/** Who to name in records of what was done, and for which request. */
export interface Actor {
  kind: "user" | "service_account" | "integration" | "system";
  id: string | null;
  name: string;
  api_key_id: string | null;
  /** Operation id, command or job. */
  action: string;
  request_id: string;
  /** SHA-256 of the request's body; null when there was none. */
  request_digest: Buffer | null;
}
