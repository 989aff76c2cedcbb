import type { Tx } from "../../../../db/connect.ts";
import { membershipProblem } from "../../../../domain/environments.ts";
import { invalid } from "../../../../domain/errors.ts";
import type { Org } from "../../../../domain/principal.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { getLiveEnvironments } from "../../environments/service.ts";
import {
  listGroupIds,
  listMemberIds,
  lockMembers,
  updateLogicalModified,
  updateMembers,
} from "./member-store.ts";

/** How what is asked of an environment, or what runs there, differs from before. */
export type Difference = "nothing" | "less" | "more";

/**
 * Finds the ids of the environments of these names, in order, each once, fit to be members of a group of this type. Nobody else
 * changes them until the transaction ends. Call it before the group itself is locked: reports lock members first.
 * @throws AppError not_found for names that mean no live environment, invalid for what cannot be a member.
 */
export async function resolveMembers(
  tx: Tx,
  org: Org,
  groupType: string,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const members = await getLiveEnvironments(tx, org, names);
  const problem = membershipProblem(groupType, members);
  if (problem !== undefined) throw invalid(problem);
  const ids = [...new Set(members.map(({ id }) => id))];
  await lockMembers(tx, org.id, ids);
  return ids;
}

/**
 * Gives a logical environment exactly these members, which are locked. What runs in it has to be judged again then.
 * @returns what that comes to: nothing, only fewer of them, or others.
 */
export async function setMembers(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  org: Org,
  group: { id: string; members: readonly string[] },
): Promise<Difference> {
  const present = await listMemberIds(tx, org.id, group.id);
  const same =
    present.length === group.members.length && present.every((id, index) => id === group.members[index]);
  if (same) return "nothing";
  await updateMembers(tx, org.id, group.id, group.members);
  await updateLogicalModified(tx, org.id, [group.id], deps.clock.now());
  const before = new Set(present);
  return group.members.every((id) => before.has(id)) ? "less" : "more";
}

/** Marks the logical environments around one as modified, because it changed. */
export async function markGroupsModified(tx: Tx, org: Org, memberId: string, at: Timestamp): Promise<void> {
  await updateLogicalModified(tx, org.id, await listGroupIds(tx, org.id, memberId), at);
}
