import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";

/** How much there is to judge in an environment, by its latest snapshot. */
export interface RecordedSize {
  id: string;
  name: string;
  /** What runs, each as often as flows know it, but at least once. No more than a little above the limit. */
  facts: number;
  most_flows: number;
  /** Characters of all names. */
  names: number;
}

/**
 * How much there is to judge in environments again. Looks at no more than `limit` artifacts of each, and at nothing of them
 * but numbers: one statement.
 */
export async function listRecordedSizes(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
  limit: number,
): Promise<RecordedSize[]> {
  const { rows } = await sql<RecordedSize>`/* recorded-sizes */
    select e.id, e.name, coalesce(sum(a.flows), 0)::float8 as facts, coalesce(max(a.flows), 0) as most_flows,
      coalesce(sum(a.name_length), 0)::float8 as names
    from environments e
    left join lateral (
      select greatest(1, cardinality(provenance)) as flows, length(name) as name_length from snapshot_artifacts
      where org_id = ${orgId}::uuid and environment_id = e.id and last_index is null limit ${limit}::bigint) a on true
    where e.org_id = ${orgId}::uuid and e.id = any(${environmentIds}::uuid[])
    group by e.id, e.name order by e.name`.execute(db);
  return rows;
}
