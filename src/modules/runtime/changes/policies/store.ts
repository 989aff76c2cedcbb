import type { Executor, Tx } from "../../../../db/connect.ts";
import { bytes, integer, type RowOf, text, uuid } from "../../../../db/row.ts";
import { empty, join, jsonb, moment, query, sql } from "../../../../db/sql.ts";
import type { Timestamp } from "../../../../lib/clock.ts";

/** Who changes a policy, and when. */
export interface Authorship {
  at: Timestamp;
  by: string;
}

/** What changes of a policy look at. */
const policy = { id: uuid, name: text, description: text, version: integer, text_digest: bytes };
export type PolicyRow = RowOf<typeof policy>;

/** Finds the policy of this name. */
export function findPolicy(db: Executor, orgId: string, name: string): Promise<PolicyRow | undefined> {
  return db.first(query(policy)`
    select id, name, description, version, text_digest from policies where org_id = ${orgId} and name = ${name}`);
}

/** Finds the policy of this name, which nobody else changes or attaches until the transaction ends. */
export function lockPolicy(tx: Tx, orgId: string, name: string): Promise<PolicyRow | undefined> {
  return tx.first(query(policy)`
    select id, name, description, version, text_digest from policies where org_id = ${orgId} and name = ${name}
    for no key update`);
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
  given: { id: string; name: string; description: string; text: NewText },
  { at, by }: Authorship,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into policies (org_id, id, name, description, version, text_digest, text_bytes, created_at, created_by_name,
      last_modified_at)
    values (${orgId}, ${given.id}, ${given.name}, ${given.description}, 1, ${given.text.digest}, ${given.text.bytes},
      ${moment(at)}, ${by}, ${moment(at)})
    on conflict (org_id, name) do nothing`);
  return inserted > 0;
}

/** Sets the description and, when there is a new text, what the policy says of its latest version. */
export async function updatePolicy(
  tx: Tx,
  orgId: string,
  id: string,
  change: { description: string; text: NewText | undefined; at: Timestamp },
): Promise<void> {
  const { description, text: latest, at } = change;
  const latestVersion =
    latest === undefined
      ? empty
      : sql`, version = version + 1, text_digest = ${latest.digest}, text_bytes = text_bytes + ${latest.bytes}`;
  await tx.run(sql`
    update policies set description = ${description}, last_modified_at = ${moment(at)}${latestVersion}
    where org_id = ${orgId} and id = ${id}`);
}

/** A version to be appended, and the controls it names. */
export interface NewVersion {
  policy_id: string;
  id: string;
  version: number;
  comment: string;
  text: string;
  controls: readonly string[];
}

/** Appends a version, and makes its controls those that the policy names. */
export async function insertVersion(
  tx: Tx,
  orgId: string,
  { policy_id, id, version, comment, text: content, controls }: NewVersion,
  { at, by }: Authorship,
): Promise<void> {
  await tx.run(sql`
    insert into policy_versions (org_id, policy_id, id, version, comment, text, created_at, created_by_name)
    values (${orgId}, ${policy_id}, ${id}, ${version}, ${comment}, ${content}, ${moment(at)}, ${by})`);
  await tx.run(sql`
    with gone as (
      delete from policy_controls where org_id = ${orgId} and policy_id = ${policy_id}
        and control_identifier <> all(${controls}::text[])
    )
    insert into policy_controls (org_id, control_identifier, policy_id)
    select ${orgId}, control, ${policy_id} from unnest(${controls}::text[]) as control
    on conflict do nothing`);
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
  const rows = events.map(
    ({ id, type, data }) =>
      sql`(${orgId}, ${policyId}, ${id}, ${type}, ${moment(at)}, ${by}, ${jsonb(data)})`,
  );
  await tx.run(sql`
    insert into policy_events (org_id, policy_id, id, type, created_at, created_by_name, data) values ${join(rows)}`);
}

/** Counts the bytes of all versions of all policies. */
export async function countPolicyBytes(db: Executor, orgId: string): Promise<number> {
  const { bytes: total } = await db.one(query({ bytes: integer })`
    select coalesce(sum(text_bytes), 0)::bigint as bytes from policies where org_id = ${orgId}`);
  return total;
}
