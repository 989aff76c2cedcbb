import type { Executor, Tx } from "../../../../db/connect.ts";
import { boolean, type RowOf, text, timestamp, uuid } from "../../../../db/row.ts";
import { moment, query, type Sql, sql } from "../../../../db/sql.ts";
import type { Timestamp } from "../../../../lib/clock.ts";

/** An entry as it is listed. */
const entry = {
  artifact_name: text,
  fingerprint: text,
  environment_name: text,
  timestamp,
  user_name: text,
  description: text,
};
type AllowlistRow = RowOf<typeof entry>;

/** Which environments' lists; undefined for all. */
type Environments = readonly string[] | undefined;

function within(environmentIds: Environments): Sql {
  return environmentIds === undefined ? sql`true` : sql`l.environment_id = any(${environmentIds}::uuid[])`;
}

/** Lists what is on the lists of live environments, newest first; of chosen ones by an index. */
export function listEntries(
  db: Executor,
  orgId: string,
  environmentIds: Environments,
): Promise<AllowlistRow[]> {
  return db.all(query(entry)`
    select l.artifact_name, l.fingerprint, e.name as environment_name, l.created_at as timestamp,
      l.created_by_name as user_name, l.description
    from allowlist_entries l join environments e on e.org_id = l.org_id and e.id = l.environment_id
    where l.org_id = ${orgId} and l.removed_at is null and not e.archived and ${within(environmentIds)}
    order by l.created_at desc, l.id desc`);
}

const laterEntry = { ...entry, id: uuid };

/** An entry, with what decides on its place. */
export type LaterAllowlistRow = RowOf<typeof laterEntry>;

/** Lists the same from the newest one on, or from those after one: for files, so that they need not be held all at once. */
export function listEntriesAfter(
  db: Executor,
  orgId: string,
  environmentIds: Environments,
  { after, limit }: { after: LaterAllowlistRow | undefined; limit: number },
): Promise<LaterAllowlistRow[]> {
  const place =
    after === undefined
      ? sql`true`
      : sql`(l.created_at, l.id) < (${moment(after.timestamp)}, ${after.id}::uuid)`;
  return db.all(query(laterEntry)`
    select l.id, l.artifact_name, l.fingerprint, e.name as environment_name, l.created_at as timestamp,
      l.created_by_name as user_name, l.description
    from allowlist_entries l join environments e on e.org_id = l.org_id and e.id = l.environment_id
    where l.org_id = ${orgId} and l.removed_at is null and not e.archived and ${within(environmentIds)} and ${place}
    order by l.created_at desc, l.id desc limit ${limit}::bigint`);
}

/** An entry that is to be. */
interface NewEntry {
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
export function upsertEntry(
  tx: Tx,
  orgId: string,
  given: NewEntry,
): Promise<{ created: boolean } | undefined> {
  return tx.first(query({ created: boolean })`
    insert into allowlist_entries as l (org_id, id, environment_id, fingerprint, artifact_name, description, created_at,
      created_by_id, created_by_name)
    values (${orgId}, ${given.id}, ${given.environment_id}, ${given.fingerprint}, ${given.artifact_name},
      ${given.description}, ${moment(given.created_at)}, ${given.created_by_id}, ${given.created_by_name})
    on conflict (org_id, environment_id, fingerprint) where removed_at is null do update
    set artifact_name = excluded.artifact_name, description = excluded.description
    where (l.artifact_name, l.description) is distinct from (excluded.artifact_name, excluded.description)
    returning l.id = ${given.id}::uuid as created`);
}

/** Takes an artifact off a list. @returns whether it was there. */
export async function updateRemoved(
  tx: Tx,
  orgId: string,
  { environment_id, fingerprint }: { environment_id: string; fingerprint: string },
  removal: { at: Timestamp; by: string },
): Promise<boolean> {
  const removed = await tx.run(sql`
    update allowlist_entries set removed_at = ${moment(removal.at)}, removed_by_name = ${removal.by}
    where org_id = ${orgId} and environment_id = ${environment_id} and fingerprint = ${fingerprint}
      and removed_at is null`);
  return removed > 0;
}
