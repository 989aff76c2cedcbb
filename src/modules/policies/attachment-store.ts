import { sql } from "kysely";

import { moment } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A policy as it is attached. */
export interface PolicyRef {
  id: string;
  name: string;
}

/** The policies that have these names. None of them gets a new version until the transaction ends. */
export function holdPolicies(tx: Tx, orgId: string, names: readonly string[]): Promise<PolicyRef[]> {
  return tx
    .selectFrom("policies")
    .select(["id", "name"])
    .where("org_id", "=", orgId)
    .where("name", "in", names)
    .orderBy("id")
    .forShare()
    .execute();
}

/** Ids of the policies attached to an environment, in the order of attachment. */
export async function listAttachedIds(db: Executor, orgId: string, environmentId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("environment_policies")
    .select("policy_id")
    .where("org_id", "=", orgId)
    .where("environment_id", "=", environmentId)
    .orderBy("id")
    .execute();
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
  await tx
    .insertInto("environment_policies")
    .values(attachments.map((one) => ({ org_id: orgId, environment_id: environmentId, ...one })))
    .execute();
}

/** Detaches policies. */
export async function deleteAttachments(
  tx: Tx,
  orgId: string,
  environmentId: string,
  policyIds: readonly string[],
): Promise<void> {
  if (policyIds.length === 0) return;
  await tx
    .deleteFrom("environment_policies")
    .where("org_id", "=", orgId)
    .where("environment_id", "=", environmentId)
    .where("policy_id", "in", policyIds)
    .execute();
}

/** Makes an environment show what is attached to it, and that it was modified. */
export async function updateShownPolicies(
  tx: Tx,
  orgId: string,
  environmentId: string,
  at: Timestamp,
): Promise<void> {
  await sql`
    update environments e set last_modified_at = ${moment(at)}, policies = (
      select '[' || coalesce(string_agg(json_text(p.name), ',' order by p.name), '') || ']'
      from environment_policies a join policies p on p.org_id = a.org_id and p.id = a.policy_id
      where a.org_id = e.org_id and a.environment_id = e.id)
    where e.org_id = ${orgId} and e.id = ${environmentId}`.execute(tx);
}

/** Ids of the live environments a policy is attached to. */
export async function listConsumingIds(db: Executor, orgId: string, policyId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("environment_policies as a")
    .innerJoin("environments as e", (join) =>
      join.onRef("e.org_id", "=", "a.org_id").onRef("e.id", "=", "a.environment_id"),
    )
    .select("e.id")
    .where("a.org_id", "=", orgId)
    .where("a.policy_id", "=", policyId)
    .where("e.archived", "=", false)
    .execute();
  return rows.map(({ id }) => id);
}
