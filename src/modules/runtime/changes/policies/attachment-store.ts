import type { Executor, Tx } from "../../../../db/connect.ts";
import { text, uuid } from "../../../../db/row.ts";
import { join, moment, query, sql } from "../../../../db/sql.ts";
import type { Timestamp } from "../../../../lib/clock.ts";

/** Finds the policies that have these names. None of them gets a new version until the transaction ends. */
export function lockPolicies(
  tx: Tx,
  orgId: string,
  names: readonly string[],
): Promise<{ id: string; name: string }[]> {
  return tx.all(query({ id: uuid, name: text })`
    select id, name from policies where org_id = ${orgId} and name = any(${names}::text[]) order by id for share`);
}

/** Lets none of the policies that are attached to an environment have a new version until the transaction ends. */
export async function lockAttached(tx: Tx, orgId: string, environmentId: string): Promise<void> {
  await tx.run(sql`
    select from policies where org_id = ${orgId}::uuid and id in (
      select policy_id from environment_policies
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid)
    order by id for share`);
}

/** Lists the ids of the policies attached to an environment, in the order of attachment. */
export async function listAttachedIds(db: Executor, orgId: string, environmentId: string): Promise<string[]> {
  const rows = await db.all(query({ policy_id: uuid })`
    select policy_id from environment_policies where org_id = ${orgId} and environment_id = ${environmentId}
    order by id`);
  return rows.map(({ policy_id }) => policy_id);
}

/** Attaches policies that are not attached. */
export async function insertAttachments(
  tx: Tx,
  orgId: string,
  environmentId: string,
  attachments: readonly { id: string; policy_id: string }[],
): Promise<void> {
  if (attachments.length === 0) return;
  const rows = attachments.map(({ id, policy_id }) => sql`(${orgId}, ${environmentId}, ${id}, ${policy_id})`);
  await tx.run(sql`
    insert into environment_policies (org_id, environment_id, id, policy_id) values ${join(rows)}`);
}

/** Detaches policies. */
export async function deleteAttachments(
  tx: Tx,
  orgId: string,
  environmentId: string,
  policyIds: readonly string[],
): Promise<void> {
  if (policyIds.length === 0) return;
  await tx.run(sql`
    delete from environment_policies
    where org_id = ${orgId} and environment_id = ${environmentId} and policy_id = any(${policyIds}::uuid[])`);
}

/** Makes an environment show what is attached to it, and that it was modified. */
export async function updateShownPolicies(
  tx: Tx,
  orgId: string,
  environmentId: string,
  at: Timestamp,
): Promise<void> {
  await tx.run(sql`
    update environments e set last_modified_at = ${moment(at)}, policies = (
      select '[' || coalesce(string_agg(json_text(p.name), ',' order by p.name), '') || ']'
      from environment_policies a join policies p on p.org_id = a.org_id and p.id = a.policy_id
      where a.org_id = ${orgId} and a.environment_id = e.id)
    where e.org_id = ${orgId} and e.id = ${environmentId}`);
}

/** Lists the ids of the live environments a policy is attached to. */
export async function listConsumingIds(db: Executor, orgId: string, policyId: string): Promise<string[]> {
  const rows = await db.all(query({ id: uuid })`
    select e.id from environment_policies as a join environments as e on e.org_id = a.org_id and e.id = a.environment_id
    where a.org_id = ${orgId} and a.policy_id = ${policyId} and e.archived = false`);
  return rows.map(({ id }) => id);
}
