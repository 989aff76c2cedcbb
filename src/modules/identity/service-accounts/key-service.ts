import type { Tx } from "../../../db/connect.ts";
import { invalidInput } from "../../../domain/errors.ts";
import { type Role, roleAllows } from "../../../domain/roles.ts";
import {
  getKey,
  issueKey,
  type IssuedKey,
  type KeyInput,
  type KeyOwner,
  listKeys,
  revokeKey,
  rotateKey,
  type ShownKey,
} from "../../kernel/access/key-service.ts";
import { recorded, type Scope } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import {
  type AccountScope,
  getServiceAccount,
  lockAccount,
  lockManagedAccount,
  keysOwner,
  requireIssuer,
  requireManager,
} from "./service.ts";
import type { ServiceAccountRow } from "./store.ts";

type KeyDeps = Pick<Deps, "db" | "clock" | "ids">;

/** Names one key of an account, by its id on the wire. */
export interface AccountKey {
  name: string;
  key_id: string;
}

/** Finds an account whose keys the caller may see. @throws AppError not_found, forbidden. */
async function managedOwner(deps: KeyDeps, scope: AccountScope, name: string): Promise<KeyOwner> {
  const account = await getServiceAccount(deps.db, scope.org.id, name);
  requireManager(scope, account);
  return keysOwner(scope, account);
}

/** Finds an account whose keys the caller may make; it stays as it is until the transaction ends. @throws AppError not_found, forbidden. */
async function lockedIssued(tx: Tx, scope: AccountScope, name: string): Promise<ServiceAccountRow> {
  const account = await lockManagedAccount(tx, scope, name);
  requireIssuer(scope, account);
  return account;
}

/** Holds that a key is not to be for more than its account. @throws AppError invalid. */
function requireNarrower(role: Role | null | undefined, { privilege }: ServiceAccountRow): void {
  if (role == null || roleAllows(privilege, role)) return;
  throw invalidInput({
    role: `Input should not be more than '${privilege}', which the account is [input: ${role}]`,
  });
}

/** Lists the account's working keys, oldest first. @throws AppError not_found, forbidden. */
export async function listAccountKeys(deps: KeyDeps, scope: AccountScope, name: string): Promise<ShownKey[]> {
  return listKeys(deps, deps.db, await managedOwner(deps, scope, name));
}

/** Finds one working key (interface spec 4.3). @throws AppError not_found for account or key, forbidden. */
export async function getAccountKey(deps: KeyDeps, scope: AccountScope, key: AccountKey): Promise<ShownKey> {
  return getKey(deps, await managedOwner(deps, scope, key.name), key.key_id);
}

/** Makes a key. @throws AppError not_found, forbidden, invalid: see `issueKey`, and for a role above the account's. */
export function createAccountKey(
  deps: KeyDeps,
  scope: AccountScope,
  input: Omit<KeyInput, "created_by_name" | "value"> & { name: string },
): Promise<IssuedKey> {
  return recorded(deps, scope, async (tx, record) => {
    const { name, ...key } = input;
    const account = await lockedIssued(tx, scope, name);
    requireNarrower(key.role, account);
    const whose = { owner: keysOwner(scope, account), by: scope.principal };
    const issued = await issueKey(deps, tx, { ...key, ...whose, created_by_name: scope.actor.name });
    record("api_key", `${name}/${issued.id}`);
    return issued;
  });
}

/** Gives a key that works another secret. @throws AppError not_found, forbidden, invalid. */
export function rotateAccountKey(
  deps: KeyDeps,
  scope: AccountScope,
  rotation: AccountKey & { grace_period_hours: number; expires_at?: number | null | undefined },
): Promise<IssuedKey & { grace_period_expires_at: number }> {
  return recorded(deps, scope, async (tx, record) => {
    const { name, key_id, grace_period_hours, expires_at } = rotation;
    const whose = { owner: keysOwner(scope, await lockedIssued(tx, scope, name)), by: scope.principal };
    const rotated = await rotateKey(deps, tx, { ...whose, key_id, grace_period_hours, expires_at });
    record("api_key", `${name}/${rotated.id}`);
    return rotated;
  });
}

/** Ends a key at once. @throws AppError not_found, also the second time, forbidden. */
export function revokeAccountKey(deps: KeyDeps, scope: AccountScope, key: AccountKey): Promise<void> {
  return recorded(deps, scope, async (tx, record) => {
    const account = await lockManagedAccount(tx, scope, key.name);
    const whose = { owner: keysOwner(scope, account), by: scope.principal };
    await revokeKey(deps, tx, { ...whose, key_id: key.key_id });
    record("api_key", `${key.name}/${key.key_id}`);
  });
}

/** Makes a key on behalf of those who run the installation: nobody's role is asked for. @throws AppError not_found. */
export function issueAccountKeyByName(
  deps: KeyDeps,
  scope: Scope,
  input: KeyInput & { name: string },
): Promise<IssuedKey> {
  return recorded(deps, scope, async (tx, record) => {
    const { name, ...key } = input;
    const { id } = await lockAccount(tx, scope.org.id, name);
    const owner = { org_id: scope.org.id, service_account_id: id };
    const issued = await issueKey(deps, tx, { ...key, owner, by: undefined });
    record("api_key", `${name}/${issued.id}`);
    return issued;
  });
}
