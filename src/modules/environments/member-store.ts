import { sql } from "kysely";

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

/**
 * Derives what logical environments have from their members: state (false if any is false, true if all are true, else
 * null), time of the last change, and that they were modified now.
 */
export async function refreshLogical(
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
  await sql`
    update environments logical
    set last_modified_at = to_timestamp(${at}::float8), last_changed_at = derived.changed, state = derived.state
    from (
      select l.id, max(m.last_changed_at) as changed,
        case when bool_or(m.state is false) then false when bool_and(m.state is true) then true end as state
      from unnest(${logicalIds}::uuid[]) as l (id)
      left join environment_members em on em.org_id = ${orgId}::uuid and em.logical_id = l.id
      left join environments m on m.org_id = em.org_id and m.id = em.member_id
      group by l.id
    ) as derived
    where logical.org_id = ${orgId}::uuid and logical.id = derived.id`.execute(tx);
}
