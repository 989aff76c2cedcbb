import { sql } from "kysely";

import { instant } from "../../db/columns.ts";
import type { Executor } from "../../db/connect.ts";
import type { RanArtifact, RecordedSnapshot } from "../../domain/policy/preview.ts";
import type { EnvironmentType } from "../../domain/environments.ts";

/** An environment with the snapshots that were in force in some time. */
export interface PastRow {
  id: string;
  name: string;
  type: EnvironmentType;
  /** By index, without gaps; at least one. */
  snapshots: RecordedSnapshot[];
}

/** Which environments, all that live when there are no ids, and when: Unix seconds, both included. */
export interface PastFilter {
  ids: readonly string[] | undefined;
  from: number;
  to: number;
}

/** The snapshots that were in force in a time, by environment; no more than `limit` in all, the earliest ones. */
export async function listPast(
  db: Executor,
  orgId: string,
  { ids, from, to }: PastFilter,
  limit: number,
): Promise<PastRow[]> {
  const wanted = ids === undefined ? sql`not e.archived` : sql`e.id = any(${ids}::uuid[])`;
  const { rows } = await sql<PastRow>`
    select id, name, type, json_agg(json_build_object('index', index, 'timestamp', epoch(created_at),
      'compliant', compliant) order by index) as snapshots
    from (
      select e.id, e.name, e.type, s.index, s.created_at, s.compliant
      from environments e
      left join lateral (
        select index from snapshots s
        where s.org_id = e.org_id and s.environment_id = e.id and s.created_at <= ${instant(from)}
        order by s.created_at desc, s.index desc limit 1
      ) as before on true
      join snapshots s on s.org_id = e.org_id and s.environment_id = e.id and s.index >= coalesce(before.index, 1)
        and s.created_at <= ${instant(to)}
      where e.org_id = ${orgId} and ${wanted}
      order by e.name, s.index limit ${limit}::bigint
    ) as found
    group by id, name, type order by name`.execute(db);
  return rows;
}

/** What ran in environments in the snapshots from one to another; no more than `limit` rows in all. */
export async function listRan(
  db: Executor,
  orgId: string,
  spans: readonly { environment_id: string; low: number; high: number }[],
  limit: number,
): Promise<(RanArtifact & { environment_id: string })[]> {
  const { rows } = await sql<RanArtifact & { environment_id: string }>`
    select a.environment_id, a.name, a.fingerprint, a.first_index, a.last_index
    from json_to_recordset(${JSON.stringify(spans)}::json) as w (environment_id uuid, low integer, high integer)
    join snapshot_artifacts a on a.org_id = ${orgId} and a.environment_id = w.environment_id
    where a.type <> 'exited' and a.first_index <= w.high and (a.last_index is null or a.last_index >= w.low)
    limit ${limit}::bigint`.execute(db);
  return rows;
}
