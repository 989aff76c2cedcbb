import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A time during which an artifact ran in an environment, by the numbers of the snapshots in which that changed. */
export interface Stay {
  environment_name: string;
  started_at: Timestamp;
  started_in: number;
  /** Null while it runs. */
  exited_at: Timestamp | null;
  exited_in: number | null;
}

/**
 * Where artifacts run and ran, by fingerprint; oldest first, in environments that are neither archived nor logical. The
 * one place that reads of artifacts learn it from. Each start is paired with the exit that follows it in its
 * environment.
 */
export async function listStays(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
): Promise<ReadonlyMap<string, readonly Stay[]>> {
  const { rows } = await sql<Stay & { fingerprint: string }>`/* artifact-stays */
    select s.fingerprint, e.name as environment_name, s.created_at as started_at, s.first_index as started_in,
      exit.created_at as exited_at, exit.first_index as exited_in
    from snapshot_artifacts s
    join environments e on e.org_id = s.org_id and e.id = s.environment_id and e.archived_at is null
      and e.type <> 'logical'
    left join lateral (
      select x.created_at, x.first_index from snapshot_artifacts x
      where x.org_id = s.org_id and x.fingerprint = s.fingerprint and x.environment_id = s.environment_id
        and x.name = s.name and x.type = 'exited' and x.first_index > s.first_index
      order by x.first_index limit 1) exit on true
    where s.org_id = ${orgId} and s.fingerprint = any (${fingerprints}::text[]) and s.type like 'started-%'
    order by s.created_at, s.environment_id, s.id`.execute(db);
  const stays = new Map<string, Stay[]>(fingerprints.map((fingerprint) => [fingerprint, []]));
  for (const { fingerprint, ...stay } of rows) stays.get(fingerprint)?.push(stay);
  return stays;
}
