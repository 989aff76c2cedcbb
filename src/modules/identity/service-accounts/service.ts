import type { Executor, Tx } from "../../../db/connect.ts";
import { forbidden, invalid, notFound } from "../../../domain/errors.ts";
import type { OrgAccess, OrgScope, Principal } from "../../../domain/principal.ts";
import { type Role, roleAllows } from "../../../domain/roles.ts";
import { wireId } from "../../../lib/ids.ts";
import { type KeyOwner, revokeAllKeys } from "../../kernel/access/key-service.ts";
import { requireUnboundKey, requireWholeKeyOfOwn } from "../../kernel/access/limits-service.ts";
import { recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import {
  archiveServiceAccount,
  findServiceAccount,
  findServiceAccountForUpdate,
  insertServiceAccount,
  type ServiceAccountRow,
  updateServiceAccount,
} from "./store.ts";

/** A caller, and the organization they ask about. */
export interface AccountScope extends OrgScope {
  org: OrgAccess;
  principal: Principal;
}

type AccountDeps = Pick<Deps, "db" | "clock" | "ids">;

/** An account as it is shown. */
export type ShownAccount = Omit<ServiceAccountRow, "id">;

/** Shows an account: ids as the wire has them. */
export function showAccount(row: ServiceAccountRow): ShownAccount {
  const { id: _id, creating_user_id, ...shown } = row;
  return { ...shown, creating_user_id: wireId(creating_user_id) };
}

const accountNotFound = (): Error => notFound("Service account not found");

/** Finds an account by name. @throws AppError not_found. */
export async function getServiceAccount(
  db: Executor,
  orgId: string,
  name: string,
): Promise<ServiceAccountRow> {
  const account = await findServiceAccount(db, orgId, name);
  if (account === undefined) throw accountNotFound();
  return account;
}

function isAdmin(scope: AccountScope): boolean {
  return scope.org.role === "admin";
}

/** Says whether the caller's own role reaches this far: nobody makes somebody, or a key, stronger than they are. */
function reaches(scope: AccountScope, privilege: Role): boolean {
  return scope.org.role !== undefined && roleAllows(scope.org.role, privilege);
}

/** Lets through who made an account, and admins: they manage it. @throws AppError forbidden. */
export function requireManager(scope: AccountScope, account: ServiceAccountRow): void {
  if (!isAdmin(scope) && account.creating_user_id !== scope.principal.id) throw forbidden();
}

/**
 * Lets through who may make keys of an account: who manages it and is at least as strong. A creator whose account was promoted, or who
 * was demoted since, would gain rights by its keys. @throws AppError forbidden.
 */
export function requireIssuer(scope: AccountScope, account: ServiceAccountRow): void {
  requireManager(scope, account);
  if (!reaches(scope, account.privilege)) throw forbidden();
}

/** Names an account as the owner of its keys. */
export function keysOwner({ org }: AccountScope, { id }: ServiceAccountRow): KeyOwner {
  return { org_id: org.id, service_account_id: id };
}

/**
 * Lets through who may give an account another privilege: admins. Who came by a key for some networks makes none stronger, because its keys may work
 * from anywhere. @throws AppError forbidden.
 */
function requirePromoter(scope: AccountScope, account: ServiceAccountRow, privilege: Role): void {
  if (!isAdmin(scope)) throw forbidden();
  requireWholeKeyOfOwn(scope.principal, keysOwner(scope, account));
  if (!roleAllows(account.privilege, privilege)) requireUnboundKey(scope.principal);
}

/** Finds an account by name, and locks it until the transaction ends: nobody removes it while it gets a key. @throws AppError not_found. */
export async function lockAccount(tx: Tx, orgId: string, name: string): Promise<ServiceAccountRow> {
  const account = await findServiceAccountForUpdate(tx, orgId, name);
  if (account === undefined) throw accountNotFound();
  return account;
}

/** Finds an account that the caller manages, and locks it until the transaction ends. @throws AppError not_found, forbidden. */
export async function lockManagedAccount(
  tx: Tx,
  scope: AccountScope,
  name: string,
): Promise<ServiceAccountRow> {
  const account = await lockAccount(tx, scope.org.id, name);
  requireManager(scope, account);
  return account;
}

/**
 * Creates an account without keys.
 * @throws AppError forbidden for a privilege above the caller's role, invalid in a personal organization and for a name
 * in use.
 */
export function createServiceAccount(
  deps: AccountDeps,
  scope: AccountScope,
  input: { name: string; description?: string | null | undefined; privilege: Role },
): Promise<ShownAccount> {
  const { org, principal, actor } = scope;
  return recorded(deps, scope, async (tx, record) => {
    if (org.kind === "personal")
      throw invalid("Service accounts are not available in personal organizations");
    if (!reaches(scope, input.privilege)) throw forbidden();
    const account: ServiceAccountRow = {
      id: deps.ids.next(),
      name: input.name,
      display_name: input.name,
      description: input.description ?? "",
      privilege: input.privilege,
      creating_user_id: principal.id,
      for_webhook: false,
      created_at: deps.clock.now(),
    };
    const fresh = await insertServiceAccount(tx, org.id, { ...account, creating_user_name: actor.name });
    if (!fresh)
      throw invalid(`A service account named '${input.name}' already exists in organization '${org.name}'`);
    record("service_account", input.name);
    return showAccount(account);
  });
}

/** What to change: undefined stays; a null description is cleared, a null privilege stays. */
export interface AccountChange {
  description?: string | null | undefined;
  privilege?: Role | null | undefined;
}

/**
 * Changes an account. When it was made stays, and so do its keys, which have the new privilege at once.
 * @throws AppError forbidden when the caller does not manage it, or may not give it another privilege.
 */
export function changeServiceAccount(
  deps: AccountDeps,
  scope: AccountScope,
  change: AccountChange & { name: string },
): Promise<ShownAccount> {
  return recorded(deps, scope, async (tx, record) => {
    const account = await lockManagedAccount(tx, scope, change.name);
    const privilege = change.privilege ?? account.privilege;
    const description = change.description === undefined ? account.description : (change.description ?? "");
    if (privilege !== account.privilege) requirePromoter(scope, account, privilege);
    if (privilege !== account.privilege || description !== account.description) {
      await updateServiceAccount(tx, scope.org.id, account.id, { description, privilege });
      record("service_account", account.name);
    }
    return showAccount({ ...account, description, privilege });
  });
}

/** Removes an account; its keys stop working at once. @throws AppError not_found, forbidden, also for a key that is for less than this account. */
export function removeServiceAccount(deps: AccountDeps, scope: AccountScope, name: string): Promise<void> {
  return recorded(deps, scope, async (tx, record) => {
    const account = await lockManagedAccount(tx, scope, name);
    const owner = keysOwner(scope, account);
    requireWholeKeyOfOwn(scope.principal, owner);
    await archiveServiceAccount(tx, scope.org.id, account.id, deps.clock.now());
    await revokeAllKeys(deps, tx, owner);
    record("service_account", account.name);
  });
}
