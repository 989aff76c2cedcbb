import { sql } from "kysely";

import { moment } from "../../db/columns.ts";
import type { Executor, PreparedExecutor, PreparedStatement, Tx } from "../../db/connect.ts";
import type { FlowNameOptions } from "../../domain/quality/names.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** An integration's settings, without its secret. */
export interface IntegrationRow extends FlowNameOptions {
  hook_uid: string;
  created_at: Timestamp;
  created_by_name: string;
  last_modified_at: Timestamp;
}

const shown = [
  "hook_uid",
  sql<FlowNameOptions["flow_name_base"]>`flow_name_base`.as("flow_name_base"),
  "flow_name_prefix",
  "flow_name_suffix",
  "created_at",
  "created_by_name",
  "last_modified_at",
] as const;

/** The organization's integration; undefined while it is off. */
export function findIntegration(db: Executor, orgId: string): Promise<IntegrationRow | undefined> {
  return db.selectFrom("quality_integrations").select(shown).where("org_id", "=", orgId).executeTakeFirst();
}

/** Where a webhook call leads: the organization and how to tell a genuine sender. */
export interface HookRow extends FlowNameOptions {
  org_id: string;
  secret: Buffer;
}

const hookStatement: PreparedStatement = {
  name: "find-quality-hook",
  brief: true,
  text: `select org_id, secret, flow_name_base, flow_name_prefix, flow_name_suffix
    from quality_integrations where hook_uid = $1`,
};

/** The integration behind a hook's URL. The organization follows from the hook. */
export async function findHook(db: PreparedExecutor, hookUid: string): Promise<HookRow | undefined> {
  const [row] = await db.prepared<HookRow>(hookStatement, [hookUid]);
  return row;
}

export interface NewIntegration extends FlowNameOptions {
  hook_uid: string;
  secret: Buffer;
  created_by_name: string;
  at: Timestamp;
}

/** Inserts the integration, or changes the settings of the one there is, whose URL and secret stay. */
export async function upsertIntegration(
  tx: Tx,
  orgId: string,
  integration: NewIntegration,
): Promise<{ row: IntegrationRow; created: boolean }> {
  const { at, ...values } = integration;
  const { created, ...row } = await tx
    .insertInto("quality_integrations")
    .values({ ...values, org_id: orgId, created_at: moment(at), last_modified_at: moment(at) })
    .onConflict((conflict) =>
      conflict.column("org_id").doUpdateSet({
        flow_name_base: values.flow_name_base,
        flow_name_prefix: values.flow_name_prefix,
        flow_name_suffix: values.flow_name_suffix,
        last_modified_at: moment(at),
      }),
    )
    .returning([...shown, sql<boolean>`xmax = 0`.as("created")])
    .executeTakeFirstOrThrow();
  return { row, created };
}

/** Replaces the secret. Undefined while the integration is off. */
export function updateSecret(
  tx: Tx,
  orgId: string,
  change: { secret: Buffer; at: Timestamp },
): Promise<IntegrationRow | undefined> {
  return tx
    .updateTable("quality_integrations")
    .set({ secret: change.secret, last_modified_at: moment(change.at) })
    .where("org_id", "=", orgId)
    .returning(shown)
    .executeTakeFirst();
}

/** Removes the integration. @returns whether there was one. */
export async function deleteIntegration(tx: Tx, orgId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("quality_integrations")
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
