import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { Move } from "../../domain/snapshot/stays.ts";

/** Every start and exit of these artifacts in environments that are not logical, as `staysByFingerprint` takes them. */
export async function listMoves(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
): Promise<Move[]> {
  const { rows } = await sql<Move>`/* artifact-moves */
    select a.environment_id, e.name as environment_name, e.archived_at, a.fingerprint, a.first_index as index,
      a.created_at as at, a.type <> 'exited' as started
    from unnest(${fingerprints}::text[]) as asked (fingerprint)
    cross join lateral (
      select environment_id, fingerprint, first_index, created_at, type from snapshot_artifacts
      where org_id = ${orgId}::uuid and fingerprint = asked.fingerprint
        and (type = 'exited' or type like 'started-%') offset 0) a
    cross join lateral (
      select name, archived_at from environments
      where org_id = ${orgId}::uuid and id = a.environment_id and type <> 'logical' limit 1) e
    order by a.fingerprint, a.environment_id, a.first_index, a.type = 'exited'`.execute(db);
  return rows;
}
