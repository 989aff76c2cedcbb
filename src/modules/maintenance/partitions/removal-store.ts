import type { Executor } from "../../../db/connect.ts";
import { boolean, uuid } from "../../../db/row.ts";
import { identifier, moment, query, sql, type Sql } from "../../../db/sql.ts";
import type { PartitionedTable } from "../../../domain/partitions.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** Conditions under which a row of a partition is still needed, by table, with what to say then. */
const needs: Record<PartitionedTable, (rows: Sql, until: Sql) => { why: string; exists: Sql }[]> = {
  attestations: (rows, until) => [
    {
      why: "an artifact that runs was attested",
      exists: sql`select from running_artifacts r join ${rows} p
        on p.org_id = r.org_id and p.artifact_fingerprint = r.fingerprint`,
    },
    {
      why: "a trail that was reported to later has attestations",
      exists: sql`select from ${rows} p join trails t on t.org_id = p.org_id and t.id = p.trail_id
        where t.last_modified_at >= ${until}`,
    },
  ],
  trail_events: (rows, until) => [
    {
      why: "a trail of an artifact that runs has events",
      exists: sql`select from running_artifacts r
        join snapshot_artifacts s on s.org_id = r.org_id and s.environment_id = r.environment_id and s.id = r.id
        join ${rows} p on p.org_id = s.org_id and p.trail_id = any(s.provenance)`,
    },
    {
      why: "a trail that was reported to later has events",
      exists: sql`select from ${rows} p join trails t on t.org_id = p.org_id and t.id = p.trail_id
        where t.last_modified_at >= ${until}`,
    },
  ],
  audit_log: (rows) => [
    {
      why: "an environment was last judged before entries",
      exists: sql`select from environment_reports e
        join running_artifacts r on r.org_id = e.org_id and r.environment_id = e.environment_id
        join ${rows} p on p.org_id = e.org_id and p.seq > e.seen_seq`,
    },
  ],
};

/** Finds why rows of a month are still needed; undefined when they are not. Reads the partition, and stops nobody. */
export async function findNeed(
  db: Executor,
  table: PartitionedTable,
  { partition, until }: { partition: string; until: Timestamp },
): Promise<string | undefined> {
  for (const { why, exists } of needs[table](identifier(partition), moment(until))) {
    const { needed } = await db.one(query({ needed: boolean })`select exists (${exists}) as needed`);
    if (needed) return why;
  }
  return undefined;
}

/** Lists the organizations that have rows in a partition. Reads all of it. */
export async function listOwners(db: Executor, partition: string): Promise<string[]> {
  const rows = await db.all(query({ id: uuid })`
    select distinct org_id as id from ${identifier(partition)} order by 1`);
  return rows.map(({ id }) => id);
}
