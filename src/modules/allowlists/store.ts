import { sql } from "kysely";

import { moment } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** An entry as it is listed. */
export interface AllowlistRow {
  artifact_name: string;
  fingerprint: string;
  environment_name: string;
  timestamp: Timestamp;
  user_name: string;
  description: string;
}

/** What is on the lists of live environments, newest first. */
export async function listEntries(db: Executor, orgId: string): Promise<AllowlistRow[]> {
  const { rows } = await sql<AllowlistRow>`
    select l.artifact_name, l.fingerprint, e.name as environment_name, l.created_at as timestamp,
      l.created_by_name as user_name, l.description
    from allowlist_entries l join environments e on e.org_id = l.org_id and e.id = l.environment_id
    where l.org_id = ${orgId} and l.removed_at is null and not e.archived
    order by l.created_at desc, l.id desc`.execute(db);
  return rows;
}

/** What is on the lists of these environments. */
export async function listFingerprints(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<{ environment_id: string; fingerprints: string[] }[]> {
  const { rows } = await sql<{ environment_id: string; fingerprints: string[] }>`/* allow-listed */
    select environment_id, array_agg(fingerprint) as fingerprints from allowlist_entries
    where org_id = ${orgId} and environment_id = any(${environmentIds}::uuid[]) and removed_at is null
    group by environment_id`.execute(db);
  return rows;
}

/** An entry that is to be. */
export interface NewEntry {
  id: string;
  environment_id: string;
  fingerprint: string;
  artifact_name: string;
  description: string;
  created_at: Timestamp;
  created_by_id: string | null;
  created_by_name: string;
}

/**
 * Puts an artifact on a list, or gives the entry it has another name and description.
 * @returns whether it is new; undefined when it is there already, just so.
 */
export async function upsertEntry(
  tx: Tx,
  orgId: string,
  entry: NewEntry,
): Promise<{ created: boolean } | undefined> {
  const { rows } = await sql<{ created: boolean }>`
    insert into allowlist_entries as l (org_id, id, environment_id, fingerprint, artifact_name, description, created_at,
      created_by_id, created_by_name)
    values (${orgId}, ${entry.id}, ${entry.environment_id}, ${entry.fingerprint}, ${entry.artifact_name},
      ${entry.description}, ${moment(entry.created_at)}, ${entry.created_by_id}, ${entry.created_by_name})
    on conflict (org_id, environment_id, fingerprint) where removed_at is null do update
    set artifact_name = excluded.artifact_name, description = excluded.description
    where (l.artifact_name, l.description) is distinct from (excluded.artifact_name, excluded.description)
    returning l.id = ${entry.id}::uuid as created`.execute(tx);
  return rows[0];
}

/** Takes an artifact off a list. @returns whether it was there. */
export async function updateRemoved(
  tx: Tx,
  orgId: string,
  entry: { environment_id: string; fingerprint: string },
  removal: { at: Timestamp; by: string },
): Promise<boolean> {
  const result = await tx
    .updateTable("allowlist_entries")
    .set({ removed_at: moment(removal.at), removed_by_name: removal.by })
    .where("org_id", "=", orgId)
    .where("environment_id", "=", entry.environment_id)
    .where("fingerprint", "=", entry.fingerprint)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
