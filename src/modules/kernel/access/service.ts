import type { Access } from "../../../contract/endpoint.ts";
import { AppError, forbidden, notFound } from "../../../domain/errors.ts";
import type { OrgAccess, Principal } from "../../../domain/principal.ts";
import { providerOnly, tooOldHere, wrongAddress } from "../../../domain/key-rules.ts";
import { type Role, roleAllows, weakerRole } from "../../../domain/roles.ts";
import { notFromThisSite, recentSignInSeconds, signInAgain } from "../../../domain/sessions.ts";
import { answerWithin } from "../../../lib/answer-within.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { equalInConstantTime, sha256 } from "../../../lib/hash.ts";
import { plainAddress } from "../../../lib/network-list.ts";
import type { Deps } from "../deps.ts";
import { sharedDeps } from "../program-deps.ts";
import { requireUnboundKey } from "./limits-service.ts";
import { isProviderRequired } from "./rules-service.ts";
import { type CallerRow, type Credential, findCaller, findRole, lookupIn } from "./store.ts";

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
  /** Whether a session that was begun at a provider needs a recent sign-in for it. */
  needsRecentSignIn: boolean;
  /** `{org}` of the path. */
  org: string | undefined;
  /** Path as requested: part of the text that denies a foreign organization. */
  path: string;
  /** Where the request comes from. */
  address: string;
  /** Is told of a caller whose key or session works, though not from there; then they are refused. */
  onWrongAddress: (refused: RefusedCaller) => Promise<void>;
}

/** Somebody whose address is in none of the networks that somebody lists. */
export interface RefusedCaller {
  principal: Principal;
  org: OrgAccess | undefined;
  by: NonNullable<CallerRow["refused_by"]>;
}

/** Makes the error for missing, unknown, expired and revoked keys alike: 401 (interface spec 5). */
export function unauthenticated(): AppError {
  return new AppError("unauthenticated", "Invalid or missing credentials");
}

/** Makes the error for a key that comes without a client certificate where one is needed. */
export function certificateNeeded(): AppError {
  return new AppError("unauthenticated", "API keys need a client certificate here");
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

function principalOf(row: CallerRow, address: string | null): Principal | undefined {
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
    limits: { role: row.key_role, is_bound: row.is_bound },
    address,
  };
}

/**
 * Takes a session that was begun with a key for ended where the operator wants nobody to come so. Those are no rules that the statement could read: settings are this
 * server's, and may differ from those it had when the session began.
 */
function withoutRefusedSession(deps: Pick<Deps, "config">, row: CallerRow): CallerRow {
  const isBegunWithKey = row.session_id !== null && row.key_id !== null;
  return isBegunWithKey && isProviderRequired(deps)
    ? { ...row, kind: null, role: null, is_of_provider: false }
    : row;
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
  if (access.unbound === true) requireUnboundKey(principal);
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

/** Shows in the metrics who waits to be looked up. */
export function showCallers({ db, metrics }: Pick<Deps, "db" | "metrics">): void {
  metrics.queues.callers.add(lookupIn(db));
}

/**
 * Refuses what needs a recent sign-in to a session whose person proved at a provider who they are too long ago, or nobody knows when.
 * Other sessions are as good as the key or link that began them, which proves the same at any time.
 */
function requireRecentSignIn({ is_of_provider, proved_at }: CallerRow, now: Timestamp): void {
  if (!is_of_provider || (proved_at !== null && now - proved_at <= recentSignInSeconds)) return;
  throw new AppError("forbidden", signInAgain.message, { reason: signInAgain.reason });
}

/** Finds the owner of a key, if it works. @throws AppError forbidden when it does, though not from this address. */
export async function identify(
  deps: Pick<Deps, "db" | "clock" | "request">,
  key: string,
  { address, onWrongAddress }: Pick<Attempt, "address" | "onWrongAddress">,
): Promise<Principal | undefined> {
  const from = plainAddress(address) ?? null;
  const asked = { key: sha256(key), session: null, org: null, address: from };
  // With others: what a request has for itself would look up, and remember, this one alone.
  const row = await findCaller(sharedDeps(deps).db, asked, deps.clock.now());
  const principal = principalOf(row, from);
  await requireRightAddress({ onWrongAddress }, { principal, org: undefined }, row.refused_by);
  return principal;
}

/** Refuses who comes from the wrong address, and has it told. @throws AppError forbidden. */
async function requireRightAddress(
  { onWrongAddress }: Pick<Attempt, "onWrongAddress">,
  { principal, org }: Pick<Caller, "principal" | "org">,
  by: CallerRow["refused_by"],
): Promise<void> {
  if (principal === undefined || by === null) return;
  await onWrongAddress({ principal, org, by });
  throw forbidden(wrongAddress);
}

/** Holds an organization's rules about where its people come from. @throws AppError forbidden. */
function requireRules(attempt: Attempt, { principal, org }: Caller, row: CallerRow, at: number): void {
  if (attempt.access.kind !== "organization" || principal === undefined || org?.role === undefined) return;
  if (row.wants_provider) throw forbidden(providerOnly);
  if (row.org_ends_at !== null && row.org_ends_at <= at) throw forbidden(tooOldHere);
}

/** Says whether a request has the token for metrics. @param token the one that is set; undefined when none is. */
export function hasMetricsToken(token: string | undefined, authorization: string | undefined): boolean {
  const given = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  return token !== undefined && given !== undefined && equalInConstantTime(given, token);
}

/** How long who asks how the instance stands waits to be known: a database that hangs is what they ask about. */
const watcherPatienceMs = 400;

function databaseIsSilent(): never {
  throw new AppError(
    "unavailable",
    "The database does not answer, so that nobody is known. The token for metrics works",
  );
}

/** Says whether somebody who was let into an organization may call an endpoint of it. */
export function mayCall(access: Access, org: OrgAccess): boolean {
  if (access.kind !== "organization") return false;
  return (org.public && access.anonymous) || (org.role !== undefined && roleAllows(org.role, access.role));
}

/**
 * Authenticates a request and checks that its caller may use the endpoint.
 * @throws AppError unauthenticated without a working key or session, forbidden when the role is too low, the key is bound and may not be, the organization is
 * one the caller may not see, a session comes from another site, or its sign-in is too long ago, not_found for an unknown organization where the endpoint says so.
 */
export async function authorize(
  deps: Pick<Deps, "db" | "clock" | "config">,
  attempt: Attempt,
): Promise<Caller> {
  const { access } = attempt;
  if (access.kind === "public") return { ...stranger };
  if (access.kind === "site") {
    if (!attempt.isFromSite()) throw forbidden(notFromThisSite);
    return { ...stranger };
  }
  const isWatched = access.kind === "instance_admin" && access.orMetricsToken === true;
  if (isWatched && hasMetricsToken(deps.config.metricsToken, attempt.authorization)) return { ...stranger };
  const credential = credentialOf(attempt);
  if (credential.key === null && access.kind === "signature") return { ...stranger };
  const address = plainAddress(attempt.address) ?? null;
  const now = deps.clock.now();
  const finding = findCaller(deps.db, { ...credential, address, org: attempt.org ?? null }, now);
  const found = isWatched ? await answerWithin(watcherPatienceMs, finding, databaseIsSilent) : await finding;
  const row = withoutRefusedSession(deps, found);
  const [principal, org] = [principalOf(row, address), orgOf(row)];
  const caller: Caller = { principal, org, state: row.state ?? undefined };
  await requireRightAddress(attempt, caller, row.refused_by);
  requireRules(attempt, caller, row, now);
  if (access.kind === "organization") authorizeInOrganization(attempt, caller);
  else if (access.kind !== "signature" && principal === undefined) throw unauthenticated();
  if (access.kind === "instance_admin" && principal?.instance_admin !== true) throw forbidden();
  if (attempt.needsRecentSignIn) requireRecentSignIn(row, now);
  return caller;
}

/**
 * Says whether the owner of a key has at least this role in an organization that the request's path does not name, and may use it there with this key and
 * from this address.
 */
export async function hasRole(
  deps: Pick<Deps, "db" | "clock">,
  principal: Principal,
  needed: { org_id: string; role: Role },
): Promise<boolean> {
  const { id, api_key_id: key_id, address, limits } = principal;
  const asker = { id, key_id, address, at: deps.clock.now() };
  const { role, is_refused } = await findRole(deps.db, needed.org_id, asker);
  return role !== null && !is_refused && roleAllows(weakerRole(role, limits.role), needed.role);
}
