import type { Tx } from "../../../db/connect.ts";
import { type Role, roleAllows } from "../../../domain/roles.ts";
import { type MappedRoles, roleIn } from "../../../domain/sign-in/role-mapping.ts";
import type { Deps } from "../../kernel/deps.ts";
import {
  deleteMembership,
  getStanding,
  hasOtherAdmin,
  insertMembership,
  insertMembershipEvent,
  listStandings,
  lockMemberships,
  type Standing,
  updateMembership,
} from "./store.ts";

/** Most organizations that groups give somebody roles in. */
const mostMapped = 1000;

type MappingDeps = Pick<Deps, "clock" | "ids" | "log">;

interface Mapped {
  user_id: string;
  user: string;
}

/** Says whether a role would leave the organization without an admin. */
async function losesLastAdmin(
  tx: Tx,
  { org_id, role }: Standing,
  userId: string,
  next?: Role,
): Promise<boolean> {
  const falls = role === "admin" && (next === undefined || !roleAllows(next, "admin"));
  return falls && !(await hasOtherAdmin(tx, org_id, userId));
}

async function write(deps: MappingDeps, tx: Tx, standing: Standing, user: Mapped, role: Role | undefined) {
  const { org_id, role: previous_role } = standing;
  const { user_id } = user;
  const when = deps.clock.now();
  if (role === undefined) await deleteMembership(tx, org_id, user_id);
  else if (previous_role === null)
    await insertMembership(tx, { org_id, user_id, role, created_at: when, managed_by: "idp" });
  else await updateMembership(tx, { org_id, user_id, role, managed_by: "idp" });
  await insertMembershipEvent(tx, {
    id: deps.ids.next(),
    when,
    org_id,
    ...user,
    role: role ?? null,
    previous_role,
    event_type: role === undefined ? "removed" : previous_role === null ? "added" : "changed",
    changed_by: "sign-in provider",
    source: "idp",
  });
}

/**
 * Gives a user the memberships that their groups give, and takes those away that groups gave before. Memberships made by hand stay
 * as they are, and so does the last admin of an organization, which the log tells.
 * @returns the organizations where something changed, in the order of their ids.
 */
export async function applyMapping(
  deps: MappingDeps,
  tx: Tx,
  user: Mapped,
  mapped: MappedRoles,
): Promise<{ org_id: string }[]> {
  const wanted = {
    names: [...mapped.orgs.keys()],
    all: mapped.everywhere !== undefined,
    limit: mostMapped + 1,
  };
  const standings = await listStandings(tx, user.user_id, wanted);
  if (standings.length > mostMapped)
    deps.log.warn(
      { user: user.user, organizations: mostMapped },
      "groups give roles in too many organizations",
    );
  const changed: { org_id: string }[] = [];
  for (const standing of standings.slice(0, mostMapped)) {
    const { org_id, name } = standing;
    const role = roleIn(mapped, name);
    if (standing.source === "app" || (standing.role ?? undefined) === role) continue;
    await lockMemberships(tx, org_id);
    const now = await getStanding(tx, org_id, user.user_id);
    // Somebody else was faster.
    if (now.source !== standing.source || now.role !== standing.role) continue;
    if (await losesLastAdmin(tx, standing, user.user_id, role)) {
      deps.log.warn({ user: user.user, org: name }, "groups would remove the last admin, who stays");
      continue;
    }
    await write(deps, tx, standing, user, role);
    changed.push({ org_id });
  }
  return changed;
}
