import type { Tx } from "../../../../db/connect.ts";
import { text, uuid } from "../../../../db/row.ts";
import { moment, param, query, sql } from "../../../../db/sql.ts";
import type { Timestamp } from "../../../../lib/clock.ts";

/** Lists the ids of a logical environment's members, in order. */
export async function listMemberIds(tx: Tx, orgId: string, logicalId: string): Promise<string[]> {
  const rows = await tx.all(query({ member_id: uuid })`
    select member_id from environment_members where org_id = ${orgId} and logical_id = ${logicalId} order by position`);
  return rows.map(({ member_id }) => member_id);
}

/**
 * Makes whoever reports to environments wait until the transaction ends. A report to one that is about to become a member
 * does not know of it yet, and the logical environment would not know of the report.
 */
export async function lockMembers(tx: Tx, orgId: string, ids: readonly string[]): Promise<void> {
  await tx.run(sql`
    select from environments where org_id = ${orgId}::uuid and id = any(${ids}::uuid[]) order by id for share`);
}

/** Gives a logical environment exactly these members, in this order. */
export async function updateMembers(
  tx: Tx,
  orgId: string,
  logicalId: string,
  memberIds: readonly string[],
): Promise<void> {
  await tx.run(sql`delete from environment_members where org_id = ${orgId} and logical_id = ${logicalId}`);
  await tx.run(sql`
    insert into environment_members (org_id, logical_id, member_id, position)
    select ${orgId}::uuid, ${logicalId}::uuid, member.id, member.position
    from unnest(${memberIds}::uuid[]) with ordinality as member (id, position)`);
}

/** Takes an environment out of every logical one. @returns those. */
export function deleteMemberEverywhere(
  tx: Tx,
  orgId: string,
  memberId: string,
): Promise<{ id: string; name: string }[]> {
  const org = param(orgId);
  return tx.all(query({ id: uuid, name: text })`
    delete from environment_members m using environments g
    where m.org_id = ${org}::uuid and m.member_id = ${memberId} and g.org_id = ${org}::uuid and g.id = m.logical_id
    returning g.id, g.name`);
}

/** Lists the ids of the logical environments that include this one. */
export async function listGroupIds(tx: Tx, orgId: string, memberId: string): Promise<string[]> {
  const rows = await tx.all(query({ logical_id: uuid })`
    select logical_id from environment_members where org_id = ${orgId} and member_id = ${memberId}`);
  return rows.map(({ logical_id }) => logical_id);
}

/** Marks logical environments as modified. */
export async function updateLogicalModified(
  tx: Tx,
  orgId: string,
  logicalIds: readonly string[],
  at: Timestamp,
): Promise<void> {
  if (logicalIds.length === 0) return;
  // Locked in one order, so that two members changing at once do not wait for each other.
  await tx.run(sql`
    select id from environments where org_id = ${orgId}::uuid and id = any(${logicalIds}::uuid[])
    order by id for no key update`);
  await tx.run(sql`
    update environments set last_modified_at = ${moment(at)}
    where org_id = ${orgId} and id = any(${logicalIds}::uuid[])`);
}
