import type { Tx } from "../../db/connect.ts";
import { lockName } from "../../db/lock.ts";
import { transaction } from "../../db/transaction.ts";
import { forbidden, invalid, notFound } from "../../domain/errors.ts";
import type { Actor, Principal } from "../../domain/principal.ts";
import { issueKey, type IssuedKey, type KeyInput, revokeKey } from "../access/key-service.ts";
import { appendRecord, recorded } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import type { ChangedBy } from "../members/service.ts";
import { createOrganization } from "../organizations/service.ts";
import {
  findDefaultOrganization,
  findOwnOrganization,
  findUser,
  getServiceAccountOrganization,
  getUser,
  hasUsers,
  insertUser,
  isEmailTaken,
  updateDefaultOrganization,
  updateDisabled,
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
  /** Who made them a member of their personal organization; themselves unless said. */
  by?: ChangedBy;
}

/** A user and the personal organization that came with them. */
export interface CreatedUser {
  user_id: string;
  org_id: string;
}

/** Of several at once who ask for the same address, the later ones wait for the first. */
async function requireFreeEmail(tx: Tx, email: string): Promise<void> {
  await lockName(tx, `mail ${email.toLowerCase()}`);
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

/** Whether there is any user at all: before the first one, nobody can call. */
export function hasAnyUser(tx: Tx): Promise<boolean> {
  return hasUsers(tx);
}

/** Makes an organization the one a user works in by default. They must be a member. */
export async function preferOrganization(tx: Tx, userId: string, orgId: string): Promise<void> {
  await updateDefaultOrganization(tx, userId, orgId);
}

/** Creates a user in a transaction of its own. */
export function registerUser(deps: UserDeps, actor: Actor, input: UserInput): Promise<CreatedUser> {
  return transaction(deps.db.query, async (tx) => {
    const created = await createUser(deps, tx, input);
    const resource = { resource_type: "user", resource: input.name };
    appendRecord(deps, tx, { org: { id: created.org_id }, actor }, resource);
    return created;
  });
}

/** @throws AppError not_found. */
export async function getUserByName(deps: Pick<Deps, "db">, name: string): Promise<UserRow> {
  const user = await findUser(deps.db.query, name);
  if (user === undefined) throw notFound(`User '${name}' does not exist`);
  return user;
}

/** Shuts a user out, or lets them in again. Their keys stop working at once and work again afterwards. */
export async function setUserDisabled(
  deps: UserDeps,
  actor: Actor,
  change: { user: string; disabled: boolean },
): Promise<void> {
  const user = await getUserByName(deps, change.user);
  if ((user.disabled_at !== null) === change.disabled) return;
  await recorded(deps, { org: { id: user.personal_org_id }, actor }, async (tx, record) => {
    await updateDisabled(tx, user.id, change.disabled ? deps.clock.now() : null);
    record("user", user.name);
  });
}

/** Who asks about themselves. */
export interface OwnScope {
  principal: Principal;
  actor: Actor;
  /** Path as requested, for the text that denies a foreign organization. */
  path: string;
}

/** The name of the caller's default organization; empty when they have none. A service account has only its own. */
export async function getDefaultOrganization(deps: Pick<Deps, "db">, principal: Principal): Promise<string> {
  if (principal.kind === "service_account") return getServiceAccountOrganization(deps.db.query, principal.id);
  return (await findDefaultOrganization(deps.db.query, principal.id)) ?? "";
}

/** @throws AppError forbidden for an organization that does not exist or that the caller is not in (contract 16). */
export async function setDefaultOrganization(
  deps: Pick<Deps, "db" | "clock">,
  scope: OwnScope,
  orgName: string,
): Promise<void> {
  const { principal, actor } = scope;
  const denied = forbidden(`Access denied to ${scope.path}`);
  if (principal.kind === "service_account") {
    // It has this one anyway, and can have no other.
    if ((await getServiceAccountOrganization(deps.db.query, principal.id)) !== orgName) throw denied;
    return;
  }
  const user = await getUser(deps.db.query, principal.id);
  await recorded(deps, { org: { id: user.personal_org_id }, actor }, async (tx, record) => {
    const org = await findOwnOrganization(tx, user.id, orgName);
    if (org === undefined) throw denied;
    if (await updateDefaultOrganization(tx, user.id, org.id)) record("user", user.name);
  });
}

/** Personal keys are for people. @throws AppError forbidden for a service account. */
export function requireUser(principal: Principal): { user_id: string } {
  if (principal.kind !== "user") throw forbidden();
  return { user_id: principal.id };
}

/** Makes a key that acts as this user, recorded in their personal organization. */
export async function issueUserKey(
  deps: UserDeps,
  scope: { user_id: string; actor: Actor },
  input: KeyInput,
): Promise<IssuedKey> {
  const { user_id, actor } = scope;
  const user = await getUser(deps.db.query, user_id);
  return recorded(deps, { org: { id: user.personal_org_id }, actor }, async (tx, record) => {
    const issued = await issueKey(deps, tx, { ...input, owner: { user_id } });
    record("api_key", issued.id);
    return issued;
  });
}

/** Ends one of a user's own keys. @throws AppError not_found. */
export async function revokeUserKey(
  deps: UserDeps,
  scope: { user_id: string; actor: Actor },
  keyId: string,
): Promise<void> {
  const { user_id, actor } = scope;
  const user = await getUser(deps.db.query, user_id);
  await recorded(deps, { org: { id: user.personal_org_id }, actor }, async (tx, record) => {
    await revokeKey(deps, tx, { owner: { user_id }, key_id: keyId });
    record("api_key", keyId);
  });
}
