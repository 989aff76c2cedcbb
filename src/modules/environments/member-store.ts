import { sql } from "kysely";

import { moment } from "../../db/columns.ts";
import type { Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** Ids of a logical environment's members, in order. */
export async function listMemberIds(tx: Tx, orgId: string, logicalId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("environment_members")
    .select("member_id")
    .where("org_id", "=", orgId)
    .where("logical_id", "=", logicalId)
    .orderBy("position")
    .execute();
  return rows.map(({ member_id }) => member_id);
}

/**
 * Makes whoever reports to environments wait until the transaction ends. A report to one that is about to become a member
 * does not know of it yet, and the logical environment would not know of the report.
 */
export async function holdMembers(tx: Tx, orgId: string, ids: readonly string[]): Promise<void> {
  await sql`select from environments where org_id = ${orgId}::uuid and id = any(${ids}::uuid[])
    order by id for share`.execute(tx);
}

/** Gives a logical environment exactly these members, in this order. */
export async function updateMembers(
  tx: Tx,
  orgId: string,
  logicalId: string,
  memberIds: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom("environment_members")
    .where("org_id", "=", orgId)
    .where("logical_id", "=", logicalId)
    .execute();
  await sql`
    insert into environment_members (org_id, logical_id, member_id, position)
    select ${orgId}::uuid, ${logicalId}::uuid, member.id, member.position
    from unnest(${memberIds}::uuid[]) with ordinality as member (id, position)`.execute(tx);
}

/** Takes an environment out of every logical one. @returns the ids of those. */
export async function deleteMemberEverywhere(tx: Tx, orgId: string, memberId: string): Promise<string[]> {
  const rows = await tx
    .deleteFrom("environment_members")
    .where("org_id", "=", orgId)
    .where("member_id", "=", memberId)
    .returning("logical_id")
    .execute();
  return rows.map(({ logical_id }) => logical_id);
}

/** Ids of the logical environments that include this one. */
export async function listGroupIds(tx: Tx, orgId: string, memberId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("environment_members")
    .select("logical_id")
    .where("org_id", "=", orgId)
    .where("member_id", "=", memberId)
    .execute();
  return rows.map(({ logical_id }) => logical_id);
}

/** Notes that logical environments were modified. */
export async function touchLogical(
  tx: Tx,
  orgId: string,
  logicalIds: readonly string[],
  at: Timestamp,
): Promise<void> {
  if (logicalIds.length === 0) return;
  // Locked in one order, so that two members changing at once do not wait for each other.
  await sql`
    select id from environments where org_id = ${orgId}::uuid and id = any(${logicalIds}::uuid[])
    order by id for no key update`.execute(tx);
  await tx
    .updateTable("environments")
    .set({ last_modified_at: moment(at) })
    .where("org_id", "=", orgId)
    .where("id", "in", logicalIds)
    .execute();
}
