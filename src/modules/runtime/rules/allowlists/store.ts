import type { Executor } from "../../../../db/connect.ts";
import { type RowOf, text, uuid } from "../../../../db/row.ts";
import { param, query, uuidList } from "../../../../db/sql.ts";

/** Lists those of the environments that have anything on their lists. */
export async function listWithEntries(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<string[]> {
  const org = param(orgId);
  const rows = await db.all(query("with-allow-list", { id: uuid })`
    select asked.id from unnest((select ${uuidList(environmentIds)}::uuid[])) as asked (id)
    cross join lateral (
      select from allowlist_entries where org_id = ${org}::uuid and environment_id = asked.id and removed_at is null limit 1) entry`);
  return rows.map(({ id }) => id);
}

const allowedArtifact = { environment_id: uuid, fingerprint: text };

/** A fingerprint in an environment. */
export type PlacedFingerprint = RowOf<typeof allowedArtifact>;

/** Lists those fingerprints that are on the lists of their environments, each looked for by an index. */
export function listAllowed(
  db: Executor,
  orgId: string,
  placed: readonly PlacedFingerprint[],
): Promise<PlacedFingerprint[]> {
  const environmentIds = uuidList(placed.map(({ environment_id }) => environment_id));
  const fingerprints = placed.map(({ fingerprint }) => fingerprint);
  const org = param(orgId);
  return db.all(query("allow-listed", allowedArtifact)`
    select asked.environment_id, asked.fingerprint
    from unnest((select ${environmentIds}::uuid[]), (select ${fingerprints}::text[])) as asked (environment_id, fingerprint)
    cross join lateral (
      select from allowlist_entries
      where org_id = ${org}::uuid and environment_id = asked.environment_id and fingerprint = asked.fingerprint
        and removed_at is null limit 1) entry`);
}
