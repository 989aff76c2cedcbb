import type { Tx } from "../../../db/connect.ts";
import { lockName } from "../../../db/lock.ts";
import { transaction } from "../../../db/transaction.ts";
import { forbidden, invalid, notFound } from "../../../domain/errors.ts";
import type { CurrentUser } from "../../../contract/current-user.ts";
import { providerForKeys } from "../../../domain/key-rules.ts";
import type { Actor, Principal } from "../../../domain/principal.ts";
import { wireId } from "../../../lib/ids.ts";
import { recordEnds } from "../../kernel/access/session-ends-service.ts";
import { isProviderRequired } from "../../kernel/access/rules-service.ts";
import { endSessionsOf, findSessionProof, getCurrentSession } from "../../kernel/access/session-service.ts";
import { issueKey, type IssuedKey, type KeyInput, revokeKey } from "../../kernel/access/key-service.ts";
import type { KeyMaker } from "../../kernel/access/limits-service.ts";
import { appendRecord, recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { ChangedBy } from "../members/service.ts";
import { createOrganization, lockIdentities } from "../organizations/service.ts";
import {
  findDefaultOrganization,
  findOwnOrganization,
  findUser,
  getAccountProfile,
  getServiceAccountOrganization,
  getUser,
  getUserProfile,
  hasOtherInstanceAdmin,
  hasUsers,
  listAdministratorAddresses,
  insertUser,
  isEmailTaken,
  updateDefaultOrganization,
  updateDisabled,
  updateInstanceAdmin,
  type UserRow,
} from "./store.ts";

type UserDeps = Pick<Deps, "db" | "clock" | "ids">;

export interface UserInput {
  name: string;
  email?: string | undefined;
  display_name?: string | undefined;
  instance_admin?: boolean;
  /** Whether others may have the mail address, too. Otherwise it is refused when it is in use. */
  shares_email?: boolean;
  /** Who makes them a member of their personal organization; themselves unless given. */
  by?: ChangedBy;
}

/** A user and the personal organization that came with them. */
export interface CreatedUser {
  user_id: string;
  org_id: string;
}

/** Checks a mail address. Who holds `lockIdentities` is alone in taking one. @throws AppError invalid when it is taken. */
async function requireFreeEmail(tx: Tx, email: string): Promise<void> {
  if (await isEmailTaken(tx, email)) throw invalid(`The mail address '${email}' is already taken`);
}

/**
 * Creates a user together with their personal organization, of the same name, whose admin they are (I2).
 * @throws AppError invalid when the name, or the mail address in any case, is taken.
 */
export async function createUser(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  input: UserInput,
): Promise<CreatedUser> {
  const { name, email, display_name, by = { changed_by: name, source: "script" } } = input;
  await lockIdentities(tx);
  if (email !== undefined && input.shares_email !== true) await requireFreeEmail(tx, email);
  const user_id = deps.ids.next();
  const fresh = await insertUser(tx, {
    id: user_id,
    name,
    email: email ?? null,
    display_name: display_name ?? null,
    instance_admin: input.instance_admin ?? false,
    created_at: deps.clock.now(),
  });
  if (!fresh) throw invalid(`The name '${name}' is already taken`);
  const owner = { id: user_id, name };
  const org_id = await createOrganization(deps, tx, { name, kind: "personal", owner, by });
  return { user_id, org_id };
}

/** Says whether there is any user at all: before the first one, nobody can call. */
export function hasAnyUser(tx: Tx): Promise<boolean> {
  return hasUsers(tx);
}

/** Makes an organization the one a user works in by default. They must be a member. */
export async function preferOrganization(tx: Tx, userId: string, orgId: string): Promise<void> {
  await updateDefaultOrganization(tx, userId, orgId);
}

/** Creates a user in a transaction of its own. */
export function registerUser(deps: UserDeps, actor: Actor, input: UserInput): Promise<CreatedUser> {
  return transaction(deps.db, async (tx) => {
    const created = await createUser(deps, tx, input);
    const resource = { resource_type: "user", resource: input.name };
    appendRecord(deps, tx, { org: { id: created.org_id }, actor }, resource);
    return created;
  });
}

/** Finds a user by name. @throws AppError not_found. */
export async function getUserByName(deps: Pick<Deps, "db">, name: string): Promise<UserRow> {
  const user = await findUser(deps.db, name);
  if (user === undefined) throw notFound(`User '${name}' does not exist`);
  return user;
}

/** Disables a user, or enables them again. Their keys stop working at once and work again afterwards; their sessions end. */
export async function setUserDisabled(
  deps: UserDeps,
  actor: Actor,
  change: { user: string; disabled: boolean },
): Promise<void> {
  const user = await getUserByName(deps, change.user);
  if ((user.disabled_at !== null) === change.disabled) return;
  const scope = { org: { id: user.personal_org_id }, actor };
  await transaction(deps.db, async (tx) => {
    await updateDisabled(tx, user.id, change.disabled ? deps.clock.now() : null);
    const ids = change.disabled ? await endSessionsOf(deps, tx, { user_id: user.id }) : [];
    appendRecord(deps, tx, scope, { resource_type: "user", resource: user.name });
    recordEnds(deps, tx, scope, { ids, action: "session_revoked" });
  });
}

/** Tells a caller about themselves, and the session they came with. */
export async function getProfile(deps: Pick<Deps, "db">, principal: Principal): Promise<CurrentUser> {
  const { kind, id, org_id, instance_admin, session_id } = principal;
  const [profile, session] = await Promise.all([
    org_id === null ? getUserProfile(deps.db, id) : getAccountProfile(deps.db, org_id, id),
    getCurrentSession(deps.db, session_id),
  ]);
  return { kind, id: wireId(id), ...profile, is_instance_admin: instance_admin, session };
}

/** Says in which organization's audit log it stands what somebody does about themselves: their own. */
export async function homeOf(
  deps: Pick<Deps, "db">,
  { id, org_id }: Pick<Principal, "id" | "org_id">,
): Promise<{ id: string }> {
  return { id: org_id ?? (await getUser(deps.db, id)).personal_org_id };
}

/** A caller who asks about themselves. */
export interface OwnScope {
  principal: Principal;
  actor: Actor;
  /** Path as requested, for the text that denies a foreign organization. */
  path: string;
}

/** Reads the name of the caller's default organization; empty when they have none. A service account has only its own. */
export async function getDefaultOrganization(deps: Pick<Deps, "db">, principal: Principal): Promise<string> {
  if (principal.kind === "service_account") return getServiceAccountOrganization(deps.db, principal.id);
  return (await findDefaultOrganization(deps.db, principal.id)) ?? "";
}

/**
 * Makes an organization the caller's default one.
 * @throws AppError forbidden for an organization that does not exist or that the caller is not in (contract 16).
 */
export async function setDefaultOrganization(
  deps: Pick<Deps, "db" | "clock">,
  scope: OwnScope,
  orgName: string,
): Promise<void> {
  const { principal, actor } = scope;
  const denied = forbidden(`Access denied to ${scope.path}`);
  if (principal.kind === "service_account") {
    // It has this one anyway, and can have no other.
    if ((await getServiceAccountOrganization(deps.db, principal.id)) !== orgName) throw denied;
    return;
  }
  const user = await getUser(deps.db, principal.id);
  await recorded(deps, { org: { id: user.personal_org_id }, actor }, async (tx, record) => {
    const org = await findOwnOrganization(tx, user.id, orgName);
    if (org === undefined) throw denied;
    if (await updateDefaultOrganization(tx, user.id, org.id)) record("user", user.name);
  });
}

/** Reads the caller's user id, for personal keys. @throws AppError forbidden for a service account. */
export function requireUser(principal: Principal): { user_id: string } {
  if (principal.kind !== "user") throw forbidden();
  return { user_id: principal.id };
}

/**
 * Holds that a personal key is made in a session that was begun at the sign-in provider, where the operator wants that (`WAYBILL_OIDC_REQUIRE`).
 * @throws AppError forbidden.
 */
export async function requireProviderForKeys(
  deps: Pick<Deps, "db" | "config">,
  { session_id }: Principal,
): Promise<void> {
  if (!isProviderRequired(deps)) return;
  const proof = session_id === null ? undefined : await findSessionProof(deps.db, session_id);
  if (proof?.issuer == null) throw forbidden(providerForKeys);
}

/** Whose keys are made and ended, and by whom. */
interface UserKeyScope {
  user_id: string;
  by: KeyMaker;
  actor: Actor;
}

/** Makes a key that acts as this user, recorded in their personal organization. @throws AppError forbidden, invalid: see `issueKey`. */
export async function issueUserKey(
  deps: UserDeps,
  { user_id, by, actor }: UserKeyScope,
  input: KeyInput,
): Promise<IssuedKey> {
  const user = await getUser(deps.db, user_id);
  return recorded(deps, { org: { id: user.personal_org_id }, actor }, async (tx, record) => {
    const issued = await issueKey(deps, tx, { ...input, owner: { user_id }, by });
    record("api_key", issued.id);
    return issued;
  });
}

/** Ends one of a user's own keys. @throws AppError forbidden, not_found: see `revokeKey`. */
export async function revokeUserKey(
  deps: UserDeps,
  { user_id, by, actor }: UserKeyScope,
  keyId: string,
): Promise<void> {
  const user = await getUser(deps.db, user_id);
  await recorded(deps, { org: { id: user.personal_org_id }, actor }, async (tx, record) => {
    await revokeKey(deps, tx, { owner: { user_id }, key_id: keyId, by });
    record("api_key", keyId);
  });
}

/** Makes a user an administrator of the installation, or no longer one. @returns false for the last one, who stays. */
export async function setInstanceAdmin(tx: Tx, userId: string, admin: boolean): Promise<boolean> {
  await lockName(tx, "instance administrators");
  if (!admin && !(await hasOtherInstanceAdmin(tx, userId))) return false;
  await updateInstanceAdmin(tx, userId, admin);
  return true;
}

/** Lists where those who run the installation get mail; those without an address are left out. */
export function getAdministratorAddresses(deps: Pick<Deps, "db">): Promise<string[]> {
  return listAdministratorAddresses(deps.db);
}
