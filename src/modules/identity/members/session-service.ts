import type { Tx } from "../../../db/connect.ts";
import { transaction } from "../../../db/transaction.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Actor, Org, OrgScope, Principal } from "../../../domain/principal.ts";
import { endSessionsOf, listSessionsOf, type ShownSession } from "../../kernel/access/session-service.ts";
import { recordEnds } from "../../kernel/access/session-ends-service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findHomeWithoutRole, findUserInOrganization } from "./store.ts";

type SessionDeps = Pick<Deps, "db" | "clock">;

async function memberOf(deps: Pick<Deps, "db">, org: Org, name: string): Promise<{ user_id: string }> {
  const user = await findUserInOrganization(deps.db, org.id, name);
  if (user === undefined || user.role === null)
    throw notFound(`User '${name}' is not a member of organization '${org.name}'`);
  return { user_id: user.user_id };
}

/** Lists the working sessions of a member, the latest first. @throws AppError not_found for somebody who is no member. */
export async function listMemberSessions(
  deps: SessionDeps & Pick<Deps, "config">,
  { org, principal }: OrgScope & { principal: Principal },
  name: string,
): Promise<ShownSession[]> {
  return listSessionsOf(deps, await memberOf(deps, org, name), principal.session_id);
}

/** Ends all sessions of a member at once. @throws AppError not_found for somebody who is no member. */
export async function endMemberSessions(deps: SessionDeps, scope: OrgScope, name: string): Promise<void> {
  const owner = await memberOf(deps, scope.org, name);
  await transaction(deps.db, async (tx) => {
    const ids = await endSessionsOf(deps, tx, owner);
    recordEnds(deps, tx, scope, { ids, action: "session_revoked" });
  });
}

/** Sessions that ended, and the organization that is their user's alone. */
interface EndedSessions {
  home: string;
  ids: readonly string[];
}

/**
 * Ends the sessions of a user who has just lost their last role: no organization but their own has them, and they do not run the
 * installation. To be recorded with `recordRevoked`, last.
 */
export async function endSessionsWithoutRole(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  userId: string,
): Promise<EndedSessions | undefined> {
  const home = await findHomeWithoutRole(tx, userId);
  return home === undefined ? undefined : { home, ids: await endSessionsOf(deps, tx, { user_id: userId }) };
}

/** Records sessions that ended with their user's last role. */
export function recordRevoked(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  actor: Actor,
  { home, ids }: EndedSessions,
): void {
  const action = "session_revoked";
  recordEnds(deps, tx, { org: { id: home }, actor: { ...actor, action } }, { ids, action });
}
