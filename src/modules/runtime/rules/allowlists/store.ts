import type { Executor } from "../../../../db/connect.ts";
import { texts, uuid } from "../../../../db/row.ts";
import { query } from "../../../../db/sql.ts";

/** Lists what is on the lists of these environments. */
export function listFingerprints(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<{ environment_id: string; fingerprints: string[] }[]> {
  return db.all(query("allow-listed", { environment_id: uuid, fingerprints: texts })`
    select environment_id, array_agg(fingerprint) as fingerprints from allowlist_entries
    where org_id = ${orgId} and environment_id = any(${environmentIds}::uuid[]) and removed_at is null
    group by environment_id`);
}
