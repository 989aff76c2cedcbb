import type { Tx } from "../../../db/connect.ts";
import { transaction } from "../../../db/transaction.ts";
import { invalid, notFound } from "../../../domain/errors.ts";
import { mostInvitations } from "../../../domain/invitations.ts";
import type { Principal } from "../../../domain/principal.ts";
import type { Role } from "../../../domain/roles.ts";
import { sha256 } from "../../../lib/hash.ts";
import { parseWireId, wireId } from "../../../lib/ids.ts";
import { createToken } from "../../../lib/token.ts";
import { appendRecord, type Recorder, recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { addMember, type MembersScope, requireShared } from "../members/service.ts";
import { requireFreeName } from "../organizations/service.ts";
import { attemptSignIn } from "../sessions/attempt-service.ts";
import {
  actorOf,
  arrivingUser,
  beginSession,
  recordSignIn,
  type SignedIn,
  type SignInDeps,
  type Visitor,
} from "../sessions/service.ts";
import { createUser, getProfile, preferOrganization } from "../users/service.ts";
import {
  countOtherInvitations,
  deleteAcceptedInvitation,
  deleteInvitation,
  insertInvitation,
  type InvitationRow,
  listInvitations,
} from "./store.ts";

type InvitationDeps = Pick<Deps, "db" | "clock" | "ids">;

export interface InvitationInput {
  user: string;
  email?: string | null | undefined;
  role: Role;
}

/** Shows an invitation: its id as the wire has it. */
function show<Row extends InvitationRow>(row: Row): Row {
  return { ...row, id: wireId(row.id) };
}

/**
 * Invites somebody who is no user yet. Never a user: whoever has the link could act as them.
 * @returns the invitation, with its token, which can be read nowhere else, ever.
 * @throws AppError invalid when the name is taken, for personal organizations, and where too many are open.
 */
export function invite(
  deps: InvitationDeps,
  scope: MembersScope & { principal: Principal },
  input: InvitationInput,
): Promise<InvitationRow & { token: string }> {
  const { org, actor, principal } = scope;
  requireShared(scope);
  return recorded(deps, scope, async (tx, record) => {
    await requireFreeName(tx, input.user);
    const created_at = deps.clock.now();
    if ((await countOtherInvitations(tx, org.id, input.user, created_at)) >= mostInvitations)
      throw invalid(`An organization has at most ${mostInvitations} open invitations`);
    const token = createToken();
    const row = await insertInvitation(tx, org.id, {
      id: deps.ids.next(),
      token_hash: sha256(token),
      user: input.user,
      email: input.email ?? null,
      role: input.role,
      invited_by: { id: principal.id, name: actor.name },
      created_at,
    });
    record("invitation", input.user);
    return { ...show(row), token };
  });
}

/** Lists the organization's open invitations, the latest first. */
export async function listOpenInvitations(
  deps: Pick<Deps, "db" | "clock">,
  orgId: string,
): Promise<InvitationRow[]> {
  return (await listInvitations(deps.db, orgId, deps.clock.now())).map(show);
}

/** Takes an open invitation back. @throws AppError not_found. */
export async function withdraw(
  deps: InvitationDeps,
  scope: MembersScope,
  invitationId: string,
): Promise<void> {
  const id = parseWireId(invitationId);
  await recorded(deps, scope, async (tx, record) => {
    const user =
      id === undefined ? undefined : await deleteInvitation(tx, scope.org.id, id, deps.clock.now());
    if (user === undefined) throw notFound("Invitation not found");
    record("invitation", user);
  });
}

export interface Acceptance {
  token: string;
  display_name?: string | null | undefined;
}

/** Makes the user and the membership of an invitation. @returns who arrives, and in which organization of theirs. */
async function makeMember(
  deps: InvitationDeps,
  tx: Tx,
  invitation: InvitationRow & { org_id: string },
  display_name: string,
) {
  const { user: name, role, org_id, invited_by } = invitation;
  const by = { changed_by: invited_by, source: "app" } as const;
  const given = display_name === "" ? undefined : display_name;
  // The mail address stays behind: nobody has shown that it is theirs.
  const made = await createUser(deps, tx, { name, display_name: given, by });
  await addMember(deps, tx, { org_id, user_id: made.user_id, user: name, role, ...by });
  await preferOrganization(tx, made.user_id, org_id);
  const id = made.user_id;
  return {
    personal: made.org_id,
    owner: arrivingUser({ id, name, display_name: given ?? name, instance_admin: false }),
  };
}

async function acceptOnce(
  deps: SignInDeps,
  visitor: Visitor,
  { token, display_name }: Acceptance,
): Promise<SignedIn | undefined> {
  const begun = await transaction(deps.db, async (tx) => {
    const invitation = await deleteAcceptedInvitation(tx, sha256(token), deps.clock.now());
    if (invitation === undefined) return undefined;
    const { owner, personal } = await makeMember(deps, tx, invitation, display_name ?? "");
    const actor = actorOf(visitor, owner);
    const recordIn =
      (orgId: string): Recorder =>
      (resource_type, resource) =>
        appendRecord(deps, tx, { org: { id: orgId }, actor }, { resource_type, resource });
    const record = recordIn(personal);
    const session = await beginSession(deps, tx, { owner, browser: visitor.browser, record });
    record("user", owner.name);
    recordIn(invitation.org_id)("member", owner.name);
    recordSignIn(deps, tx, actor, { method: "invitation", id: session.id });
    return { owner, ...session };
  });
  if (begun === undefined) return undefined;
  const { owner, id, token: session } = begun;
  return { user: await getProfile(deps, { ...owner, session_id: id }), token: session };
}

/**
 * Accepts an invitation: makes the user and the membership, and signs them in.
 * @throws AppError unauthenticated, rate_limited: see `attemptSignIn`; invalid when the name was taken meanwhile.
 */
export function acceptInvitation(
  deps: SignInDeps,
  visitor: Visitor,
  acceptance: Acceptance,
): Promise<SignedIn> {
  return attemptSignIn(deps, { method: "invitation", ...visitor }, () =>
    acceptOnce(deps, visitor, acceptance),
  );
}
