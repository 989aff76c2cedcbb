import type { Access } from "../../../contract/endpoint.ts";
import { AppError, forbidden, notFound } from "../../../domain/errors.ts";
import type { OrgAccess, Principal } from "../../../domain/principal.ts";
import { type Role, roleAllows } from "../../../domain/roles.ts";
import { notFromThisSite } from "../../../domain/sessions.ts";
import { sha256 } from "../../../lib/hash.ts";
import type { Deps } from "../deps.ts";
import { type CallerRow, type Credential, findCaller, findRole } from "./store.ts";

/** Who calls, and where. */
export interface Caller {
  principal: Principal | undefined;
  org: OrgAccess | undefined;
  /** In which state the database was when they were looked up (see `stateOfRows`); undefined when that is not known. */
  state: string | undefined;
}

export interface Attempt {
  authorization: string | undefined;
  /** What the session's cookie holds. It counts only where there is no authorization. */
  cookie: string | undefined;
  /** Whether a page of this site sent the request. */
  isFromSite: () => boolean;
  access: Access;
  /** `{org}` of the path. */
  org: string | undefined;
  /** Path as requested: part of the text that denies a foreign organization. */
  path: string;
}

/** Makes the error for missing, unknown, expired and revoked keys alike: 401 (interface spec 5). */
export function unauthenticated(): AppError {
  return new AppError("unauthenticated", "Invalid or missing credentials");
}

const longestKey = 512;

/**
 * Reads the key from an Authorization header: a bearer token, or the user name of basic credentials, whose password is ignored
 * (interface spec 5, RFC 6750, RFC 7617). Undefined when there is none to be read.
 */
export function readKey(authorization: string | undefined): string | undefined {
  const match = /^(bearer|basic) +(\S+) *$/i.exec(authorization ?? "");
  if (match === null) return undefined;
  const [, scheme = "", value = ""] = match;
  const key =
    scheme.toLowerCase() === "bearer"
      ? value
      : Buffer.from(value, "base64").toString("utf8").split(":", 1)[0];
  return key === undefined || key === "" || key.length > longestKey ? undefined : key;
}

function principalOf(row: CallerRow): Principal | undefined {
  if (row.kind === null || row.principal_id === null || row.name === null) return undefined;
  return {
    kind: row.kind,
    id: row.principal_id,
    name: row.name,
    display_name: row.display_name ?? row.name,
    api_key_id: row.key_id,
    session_id: row.session_id,
    org_id: row.account_org_id,
    instance_admin: row.instance_admin ?? false,
  };
}

function orgOf(row: CallerRow): OrgAccess | undefined {
  if (row.org_id === null || row.org_name === null || row.org_kind === null) return undefined;
  return {
    id: row.org_id,
    name: row.org_name,
    kind: row.org_kind,
    public: row.org_public ?? false,
    role: row.role ?? undefined,
  };
}

function authorizeInOrganization(attempt: Attempt, caller: Caller): void {
  const { access } = attempt;
  if (access.kind !== "organization") return;
  const { org, principal } = caller;
  // Public organizations are read with no credentials, and with bogus ones too.
  if (org?.public === true && access.anonymous) return;
  if (principal === undefined) throw unauthenticated();
  if (org === undefined && access.unknown === "not_found") throw notFound("Organization not found");
  if (org === undefined) throw forbidden(`Access denied to ${attempt.path}`);
  if (org.role === undefined) throw org.public ? forbidden() : forbidden(`Access denied to ${attempt.path}`);
  if (!roleAllows(org.role, access.role)) throw forbidden(access.denied);
}

const nobody: Credential = { key: null, session: null };

/** Somebody who was not looked up. */
const stranger: Caller = { principal: undefined, org: undefined, state: undefined };

/**
 * Finds what a request carries. An authorization wins, whatever it is worth; a cookie counts only from pages of this site, where
 * browsers send it without being asked by the person.
 * @throws AppError forbidden for a cookie from anywhere else.
 */
function credentialOf(attempt: Attempt): Credential {
  const { authorization, cookie } = attempt;
  const key = readKey(authorization);
  if (key !== undefined) return { key: sha256(key), session: null };
  if (authorization !== undefined || cookie === undefined || attempt.access.kind === "signature")
    return nobody;
  if (!attempt.isFromSite()) throw forbidden(notFromThisSite);
  return { key: null, session: sha256(cookie) };
}

/** Finds the owner of a key, if it works. */
export async function identify(
  deps: Pick<Deps, "db" | "clock">,
  key: string,
): Promise<Principal | undefined> {
  const asked = { key: sha256(key), session: null, org: null };
  return principalOf(await findCaller(deps.db, asked, deps.clock.now()));
}

/** Says whether somebody who was let into an organization may call an endpoint of it. */
export function mayCall(access: Access, org: OrgAccess): boolean {
  if (access.kind !== "organization") return false;
  return (org.public && access.anonymous) || (org.role !== undefined && roleAllows(org.role, access.role));
}

/**
 * Authenticates a request and checks that its caller may use the endpoint.
 * @throws AppError unauthenticated without a working key or session, forbidden when the role is too low, the organization is
 * one the caller may not see, or a session comes from another site, not_found for an unknown organization where the endpoint says so.
 */
export async function authorize(deps: Pick<Deps, "db" | "clock">, attempt: Attempt): Promise<Caller> {
  const { access } = attempt;
  if (access.kind === "public") return { ...stranger };
  if (access.kind === "site") {
    if (!attempt.isFromSite()) throw forbidden(notFromThisSite);
    return { ...stranger };
  }
  const credential = credentialOf(attempt);
  if (credential.key === null && access.kind === "signature") return { ...stranger };
  const row = await findCaller(deps.db, { ...credential, org: attempt.org ?? null }, deps.clock.now());
  const caller: Caller = { principal: principalOf(row), org: orgOf(row), state: row.state ?? undefined };
  if (access.kind === "organization") authorizeInOrganization(attempt, caller);
  else if (access.kind !== "signature" && caller.principal === undefined) throw unauthenticated();
  if (access.kind === "instance_admin" && caller.principal?.instance_admin !== true) throw forbidden();
  return caller;
}

/** Says whether the owner of a key has at least this role in an organization that the request's path does not name. */
export async function hasRole(
  deps: Pick<Deps, "db">,
  principal: Principal,
  needed: { org_id: string; role: Role },
): Promise<boolean> {
  const role = await findRole(deps.db, needed.org_id, principal.id);
  return role !== undefined && roleAllows(role, needed.role);
}
