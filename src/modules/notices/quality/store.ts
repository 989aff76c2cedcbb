import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, bytes, nullable, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, raw, sql } from "../../../db/sql.ts";
import { flowNameBases, type FlowNameOptions } from "../../../domain/quality/names.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { present } from "../../../lib/present.ts";

const flowNameOptions = {
  flow_name_base: oneOf(flowNameBases),
  flow_name_prefix: text,
  flow_name_suffix: text,
};

/** An integration's settings, without its secret. */
const integration = {
  hook_uid: text,
  ...flowNameOptions,
  created_at: timestamp,
  created_by_name: text,
  last_modified_at: timestamp,
  secret_forgotten: boolean,
};
export type IntegrationRow = RowOf<typeof integration>;

const shown = raw(
  Object.keys(integration)
    .map((name) => (name === "secret_forgotten" ? "secret is null as secret_forgotten" : name))
    .join(", "),
);

/** Finds the organization's integration; undefined while it is off. */
export function findIntegration(db: Executor, orgId: string): Promise<IntegrationRow | undefined> {
  return db.first(query(integration)`select ${shown} from quality_integrations where org_id = ${orgId}`);
}

/** Where a webhook call leads: the organization and how to tell a genuine sender, null when that was forgotten. */
const hook = { org_id: uuid, secret: nullable(bytes), ...flowNameOptions };
export type HookRow = RowOf<typeof hook>;

/** Finds the integration behind a hook's URL. The organization follows from the hook. */
export function findHook(db: Executor, hookUid: string): Promise<HookRow | undefined> {
  return db.first(query("find-quality-hook", hook, { pipelined: true })`
    select org_id, secret, flow_name_base, flow_name_prefix, flow_name_suffix
    from quality_integrations where hook_uid = ${hookUid}`);
}

interface NewIntegration extends FlowNameOptions {
  hook_uid: string;
  secret: Buffer;
  created_by_name: string;
  at: Timestamp;
}

/** Inserts the integration, or changes the settings of the one there is, whose URL and secret stay. One that has them already stays untouched. */
export async function upsertIntegration(
  tx: Tx,
  orgId: string,
  integrated: NewIntegration,
): Promise<{ row: IntegrationRow; became: "created" | "changed" | "same" }> {
  const { hook_uid, secret, created_by_name, at } = integrated;
  const { flow_name_base, flow_name_prefix, flow_name_suffix } = integrated;
  const written = await tx.first(query({ ...integration, created: boolean })`
    insert into quality_integrations as q (org_id, hook_uid, secret, flow_name_base, flow_name_prefix, flow_name_suffix,
      created_by_name, created_at, last_modified_at)
    values (${orgId}, ${hook_uid}, ${secret}, ${flow_name_base}, ${flow_name_prefix}, ${flow_name_suffix},
      ${created_by_name}, ${moment(at)}, ${moment(at)})
    on conflict (org_id) do update set flow_name_base = excluded.flow_name_base,
      flow_name_prefix = excluded.flow_name_prefix, flow_name_suffix = excluded.flow_name_suffix,
      last_modified_at = excluded.last_modified_at
    where (q.flow_name_base, q.flow_name_prefix, q.flow_name_suffix)
      is distinct from (excluded.flow_name_base, excluded.flow_name_prefix, excluded.flow_name_suffix)
    returning ${shown}, xmax = 0 as created`);
  if (written === undefined)
    return {
      // The statement has locked it.
      row: present(await findIntegration(tx, orgId), "what is in the way stays"),
      became: "same",
    };
  const { created, ...row } = written;
  return { row, became: created ? "created" : "changed" };
}

/** Replaces the secret. Undefined while the integration is off. */
export function updateSecret(
  tx: Tx,
  orgId: string,
  change: { secret: Buffer; at: Timestamp },
): Promise<IntegrationRow | undefined> {
  return tx.first(query(integration)`
    update quality_integrations set secret = ${change.secret}, last_modified_at = ${moment(change.at)}
    where org_id = ${orgId} returning ${shown}`);
}

/** Deletes the integration. @returns whether there was one. */
export async function deleteIntegration(tx: Tx, orgId: string): Promise<boolean> {
  return (await tx.run(sql`delete from quality_integrations where org_id = ${orgId}`)) > 0;
}
