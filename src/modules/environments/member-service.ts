import type { Tx } from "../../db/connect.ts";
import { membershipProblem } from "../../domain/environments.ts";
import { invalid } from "../../domain/errors.ts";
import type { Timestamp } from "../../lib/clock.ts";
import type { Deps } from "../deps.ts";
import { type Org, requireLive } from "./find-service.ts";
import { holdMembers, listGroupIds, listMemberIds, touchLogical, updateMembers } from "./member-store.ts";
import { type EnvironmentRef, findEnvironments } from "./store.ts";

/** The live environments of these names, in order. @throws AppError not_found for a name that means none. */
export async function requireMembers(tx: Tx, org: Org, names: readonly string[]): Promise<EnvironmentRef[]> {
  if (names.length === 0) return [];
  const found = await findEnvironments(tx, org.id, names);
  return names.map((name, index) => requireLive(org, name, found[index]));
}

/** How what is asked of an environment, or what runs there, differs from before. */
export type Difference = "nothing" | "less" | "more";

/**
 * Ids of the environments of these names, in order, each once, fit to be members of a group of this type. Nobody else
 * changes them until the transaction ends. Before the group itself is locked: reports lock members first.
 * @throws AppError not_found for names that mean no live environment, invalid for what cannot be a member.
 */
export async function resolveMembers(
  tx: Tx,
  org: Org,
  groupType: string,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const members = await requireMembers(tx, org, names);
  const problem = membershipProblem(groupType, members);
  if (problem !== undefined) throw invalid(problem);
  const ids = [...new Set(members.map(({ id }) => id))];
  await holdMembers(tx, org.id, ids);
  return ids;
}

/**
 * Gives a logical environment exactly these members, which are held. What runs in it has to be judged again then.
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
  await touchLogical(tx, org.id, [group.id], deps.clock.now());
  return group.members.every((id) => present.includes(id)) ? "less" : "more";
}

/** Tells the logical environments around one that it changed: they count as modified too. */
export async function touchGroups(tx: Tx, org: Org, memberId: string, at: Timestamp): Promise<void> {
  await touchLogical(tx, org.id, await listGroupIds(tx, org.id, memberId), at);
}
