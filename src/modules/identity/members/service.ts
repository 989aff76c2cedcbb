import type { Tx } from "../../../db/connect.ts";
import { transaction } from "../../../db/transaction.ts";
import { invalid, notFound } from "../../../domain/errors.ts";
import type { Org, OrganizationKind, OrgScope } from "../../../domain/principal.ts";
import type { Role } from "../../../domain/roles.ts";
import { type KeyMaker, requireWholeKeyOfOwn } from "../../kernel/access/limits-service.ts";
import { appendRecord, recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { endSessionsWithoutRole, recordRevoked } from "./session-service.ts";
import {
  deleteMembership,
  findUserInOrganization,
  hasOtherAdmin,
  insertMembership,
  insertMembershipEvent,
  lockMemberships,
  type MemberRow,
  type NewMembershipEvent,
  updateMembership,
  type UserInOrganization,
} from "./store.ts";

/** Who changes a membership, and from where: `app` is the HTTP interface, `script` the command line, `idp` a sign-in provider. */
export interface ChangedBy {
  changed_by: string;
  source: "app" | "script" | "idp";
}

/** The organization whose members change, and on whose behalf. */
export interface MembersScope extends OrgScope {
  org: Org & { kind: OrganizationKind };
}

/** Who changes members: a caller, or undefined for the command line. */
interface ChangeScope extends MembersScope {
  principal: KeyMaker;
}

type MemberDeps = Pick<Deps, "db" | "clock" | "ids">;

export interface FirstMember extends ChangedBy {
  org_id: string;
  user_id: string;
  user: string;
  role: Role;
}

function writeEvent(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  event: Omit<NewMembershipEvent, "id" | "when">,
): Promise<void> {
  return insertMembershipEvent(tx, { ...event, id: deps.ids.next(), when: deps.clock.now() });
}

/** Makes a user a member of an organization they are not in yet, and writes that down. */
export async function addMember(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  member: FirstMember,
): Promise<void> {
  const { org_id, user_id, role } = member;
  await insertMembership(tx, { org_id, user_id, role, created_at: deps.clock.now() });
  await writeEvent(deps, tx, { ...member, previous_role: null, event_type: "added" });
}

/** Refuses organizations that are one user's own. @throws AppError invalid. */
export function requireShared({ org }: MembersScope): void {
  if (org.kind === "personal") throw invalid("Members are not available in personal organizations");
}

async function getUser(tx: Tx, scope: MembersScope, name: string): Promise<UserInOrganization> {
  requireShared(scope);
  await lockMemberships(tx, scope.org.id);
  const user = await findUserInOrganization(tx, scope.org.id, name);
  if (user === undefined) throw notFound(`User '${name}' does not exist`);
  return user;
}

async function requireOtherAdmin(tx: Tx, scope: MembersScope, user: UserInOrganization): Promise<void> {
  if (user.role !== "admin" || (await hasOtherAdmin(tx, scope.org.id, user.user_id))) return;
  throw invalid(
    `'${user.user}' is the last admin of organization '${scope.org.name}' and cannot be removed or demoted`,
  );
}

/**
 * Gives a user a role in the organization, whether they are a member already or not. Repeating it changes nothing.
 * @throws AppError not_found for an unknown user, invalid for the last admin and in personal organizations, forbidden for another role of the caller's
 * own by a key that is for less.
 */
export function setMember(
  deps: MemberDeps,
  scope: ChangeScope,
  change: { user: string; role: Role; source: ChangedBy["source"] },
): Promise<{ member: MemberRow; added: boolean }> {
  return recorded(deps, scope, async (tx, record) => {
    const user = await getUser(tx, scope, change.user);
    const { user_id, created_at, role: previous_role, source, ...shown } = user;
    const { role } = change;
    const added = previous_role === null;
    const now = deps.clock.now();
    const member = { ...shown, role, source: "app" as const, created_at: created_at ?? now };
    if (previous_role === role) return { member: { ...member, source: source ?? "app" }, added };
    requireWholeKeyOfOwn(scope.principal, { user_id });
    if (added) await insertMembership(tx, { org_id: scope.org.id, user_id, role, created_at: now });
    else {
      await requireOtherAdmin(tx, scope, user);
      await updateMembership(tx, { org_id: scope.org.id, user_id, role });
    }
    await writeEvent(deps, tx, {
      org_id: scope.org.id,
      user_id,
      user: user.user,
      role,
      previous_role,
      event_type: added ? "added" : "changed",
      changed_by: scope.actor.name,
      source: change.source,
    });
    record("member", user.user);
    return { member, added };
  });
}

/**
 * Takes a user's role in the organization away. Who has no other one left is signed out.
 * @throws AppError not_found for somebody who is no member, invalid for the last admin, forbidden for the caller themselves by a key that is for less.
 */
export function removeMember(
  deps: MemberDeps,
  scope: ChangeScope,
  change: { user: string; source: ChangedBy["source"] },
): Promise<void> {
  return transaction(deps.db, async (tx) => {
    const user = await getUser(tx, scope, change.user);
    if (user.role === null)
      throw notFound(`User '${user.user}' is not a member of organization '${scope.org.name}'`);
    requireWholeKeyOfOwn(scope.principal, { user_id: user.user_id });
    await requireOtherAdmin(tx, scope, user);
    await deleteMembership(tx, scope.org.id, user.user_id);
    await writeEvent(deps, tx, {
      org_id: scope.org.id,
      user_id: user.user_id,
      user: user.user,
      role: null,
      previous_role: user.role,
      event_type: "removed",
      changed_by: scope.actor.name,
      source: change.source,
    });
    const ended = await endSessionsWithoutRole(deps, tx, user.user_id);
    appendRecord(deps, tx, scope, { resource_type: "member", resource: user.user });
    if (ended !== undefined) recordRevoked(deps, tx, scope.actor, ended);
  });
}
