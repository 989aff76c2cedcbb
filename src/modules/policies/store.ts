import { type ExpressionBuilder, sql } from "kysely";

import { jsonb, moment } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { DB } from "../../db/schema.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** Who changes a policy, and when. */
export interface Authorship {
  at: Timestamp;
  by: string;
}

/** What changes of a policy look at. */
export interface PolicyRow {
  id: string;
  name: string;
  description: string;
  version: number;
  text_digest: Buffer;
}

const columns = ["id", "name", "description", "version", "text_digest"] as const;

/** The policy of this name. */
export function findPolicy(db: Executor, orgId: string, name: string): Promise<PolicyRow | undefined> {
  return db
    .selectFrom("policies")
    .select(columns)
    .where("org_id", "=", orgId)
    .where("name", "=", name)
    .executeTakeFirst();
}

/** The same, which nobody else changes or attaches until the transaction ends. */
export function lockPolicy(tx: Tx, orgId: string, name: string): Promise<PolicyRow | undefined> {
  return tx
    .selectFrom("policies")
    .select(columns)
    .where("org_id", "=", orgId)
    .where("name", "=", name)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** A text to be the latest of a policy. */
export interface NewText {
  text: string;
  digest: Buffer;
  bytes: number;
}

/**
 * Inserts a policy that is going to have a first version, waiting for others who are about to take the name.
 * @returns whether the name was free.
 */
export async function insertPolicy(
  tx: Tx,
  orgId: string,
  policy: { id: string; name: string; description: string; text: NewText },
  { at, by }: Authorship,
): Promise<boolean> {
  const { id, name, description, text } = policy;
  const result = await tx
    .insertInto("policies")
    .values({
      org_id: orgId,
      id,
      name,
      description,
      version: 1,
      text_digest: text.digest,
      text_bytes: text.bytes,
      created_at: moment(at),
      created_by_name: by,
      last_modified_at: moment(at),
    })
    .onConflict((conflict) => conflict.columns(["org_id", "name"]).doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Sets the description and, when there is a new text, what the policy says of its latest version. */
export async function updatePolicy(
  tx: Tx,
  orgId: string,
  id: string,
  change: { description: string; text: NewText | undefined; at: Timestamp },
): Promise<void> {
  const { description, text, at } = change;
  await tx
    .updateTable("policies")
    .set({ description, last_modified_at: moment(at) })
    .$if(text !== undefined, (query) =>
      query.set((eb: ExpressionBuilder<DB, "policies">) => ({
        version: eb("version", "+", 1),
        text_digest: text!.digest,
        text_bytes: eb("text_bytes", "+", text!.bytes),
      })),
    )
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .execute();
}

/** Appends a version, and makes its controls those that the policy names. */
export async function insertVersion(
  tx: Tx,
  orgId: string,
  version: {
    policy_id: string;
    id: string;
    version: number;
    comment: string;
    text: string;
    controls: string[];
  },
  { at, by }: Authorship,
): Promise<void> {
  const { controls, ...values } = version;
  await tx
    .insertInto("policy_versions")
    .values({ org_id: orgId, ...values, created_at: moment(at), created_by_name: by })
    .execute();
  await sql`
    with gone as (
      delete from policy_controls where org_id = ${orgId} and policy_id = ${values.policy_id}
        and control_identifier <> all(${controls}::text[])
    )
    insert into policy_controls (org_id, control_identifier, policy_id)
    select ${orgId}, control, ${values.policy_id} from unnest(${controls}::text[]) as control
    on conflict do nothing`.execute(tx);
}

/** An entry of a policy's history. */
export interface NewEvent {
  id: string;
  type: "creation" | "metadata_update" | "new_version";
  data: Record<string, unknown>;
}

/** Appends to a policy's history. */
export async function insertEvents(
  tx: Tx,
  orgId: string,
  policyId: string,
  events: readonly NewEvent[],
  { at, by }: Authorship,
): Promise<void> {
  await tx
    .insertInto("policy_events")
    .values(
      events.map(({ id, type, data }) => ({
        org_id: orgId,
        policy_id: policyId,
        id,
        type,
        created_at: moment(at),
        created_by_name: by,
        data: jsonb(data),
      })),
    )
    .execute();
}

/** Bytes of all versions of all policies. */
export async function countPolicyBytes(db: Executor, orgId: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(text_bytes), 0)::bigint as bytes from policies where org_id = ${orgId}`.execute(db);
  return rows[0]!.bytes;
}
