import type { Tx } from "../../../db/connect.ts";
import { lockName } from "../../../db/lock.ts";
import { transaction } from "../../../db/transaction.ts";
import { invalid, invalidInput } from "../../../domain/errors.ts";
import { reservedNames } from "../../../domain/names.ts";
import type { Actor, OrganizationKind, Principal } from "../../../domain/principal.ts";
import { requireUnboundKey } from "../../kernel/access/limits-service.ts";
import { appendRecord, recorded, type Scope } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { addMember, type ChangedBy } from "../members/service.ts";
import {
  findOrganization,
  findOwner,
  getOrganization,
  getOrganizationForUpdate,
  insertOrganization,
  type OrganizationRow,
  type OrganizationSettings,
  updateOrganization,
} from "./store.ts";

function requireUnreserved(name: string): void {
  if (reservedNames.has(name)) throw invalid(`The name '${name}' is reserved`);
}

/**
 * Checks that nobody has a name: organizations and users share their names.
 * @throws AppError invalid when it is taken, or one that nobody may have.
 */
export async function requireFreeName(tx: Tx, name: string): Promise<void> {
  requireUnreserved(name);
  const holder = await findOrganization(tx, name);
  if (holder?.kind === "personal") throw invalid(`User '${name}' exists already`);
  if (holder !== undefined) throw invalid(`The name '${name}' is already taken`);
}

export interface OrganizationInput extends Partial<OrganizationSettings> {
  name: string;
  kind: OrganizationKind;
  /** Becomes the first admin. */
  owner: { id: string; name: string };
  by: ChangedBy;
}

/**
 * Makes others who create users or organizations wait until the transaction ends. On Citus these are on every node, where
 * whoever writes one keeps out all others: two who write several would wait for each other.
 */
export async function lockIdentities(tx: Tx): Promise<void> {
  await lockName(tx, "users and organizations");
}

/**
 * Creates an organization whose owner is its admin. @returns its id.
 * @throws AppError invalid when the name is taken, by an organization or a user: both share their names; or is one that nobody may
 * have.
 */
export async function createOrganization(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  input: OrganizationInput,
): Promise<string> {
  const { owner, by, ...organization } = input;
  requireUnreserved(input.name);
  const id = deps.ids.next();
  const created_at = deps.clock.now();
  await lockIdentities(tx);
  const fresh = await insertOrganization(tx, { ...organization, id, owner_user_id: owner.id, created_at });
  if (!fresh) throw invalid(`The name '${input.name}' is already taken`);
  await addMember(deps, tx, { org_id: id, user_id: owner.id, user: owner.name, role: "admin", ...by });
  return id;
}

/** A shared organization to be made. */
export interface SharedOrganizationInput extends Partial<OrganizationSettings> {
  name: string;
  /** Name of the user who becomes its first admin. */
  owner: string;
  source: ChangedBy["source"];
}

/**
 * Creates a shared organization, in a transaction of its own.
 * @throws AppError invalid when the name is taken or the owner unknown.
 */
export function createSharedOrganization(
  deps: Pick<Deps, "db" | "clock" | "ids">,
  actor: Actor,
  input: SharedOrganizationInput,
): Promise<OrganizationRow> {
  const { source, owner: ownerName, ...organization } = input;
  return transaction(deps.db, async (tx) => {
    const owner = await findOwner(tx, ownerName);
    if (owner === undefined)
      throw invalidInput({ owner: `User '${ownerName}' does not exist [input: ${ownerName}]` });
    const by = { changed_by: actor.name, source };
    const id = await createOrganization(deps, tx, { ...organization, kind: "shared", owner, by });
    const made = { resource_type: "organization", resource: input.name };
    appendRecord(deps, tx, { org: { id }, actor }, made);
    return getOrganization(tx, id);
  });
}

/** What to change: undefined stays, and so does `public` when it is null; a null text is cleared. */
export interface OrganizationChange {
  display_name?: string | null | undefined;
  description?: string | null | undefined;
  public?: boolean | null | undefined;
}

function changed(now: OrganizationSettings, change: OrganizationChange): OrganizationSettings {
  const text = (before: string, after: string | null | undefined): string =>
    after === undefined ? before : (after ?? "");
  return {
    display_name: text(now.display_name, change.display_name),
    description: text(now.description, change.description),
    public: change.public ?? now.public,
  };
}

/**
 * Changes the settings of an organization. One that has them already stays untouched.
 * @throws AppError forbidden for a key that is bound to networks, and would have it read from everywhere.
 */
export function changeOrganization(
  deps: Pick<Deps, "db" | "clock">,
  scope: Scope & { principal: Principal },
  change: OrganizationChange,
): Promise<OrganizationRow> {
  return recorded(deps, scope, async (tx, record) => {
    const before = await getOrganizationForUpdate(tx, scope.org.id);
    const after = changed(before, change);
    const same =
      after.public === before.public &&
      after.display_name === before.display_name &&
      after.description === before.description;
    if (same) return before;
    if (after.public && !before.public) requireUnboundKey(scope.principal);
    await updateOrganization(tx, scope.org.id, after, deps.clock.now());
    record("organization", before.name);
    return getOrganization(tx, scope.org.id);
  });
}
