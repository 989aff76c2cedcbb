import type pg from "pg";

import type { SeedRows } from "./seed-rows.ts";

/** What is counted in the database and grows with the epochs. Parameters: the organization, and how many there are. */
const statements = [
  "update org_counters set audit_seq = audit_seq * $2, build_number = build_number * $2 where org_id = $1",
  "update repo_counters set build_number = build_number * $2 where org_id = $1",
  "update trail_tallies set trails = trails * $2 where org_id = $1",
  `update environment_reports r set snapshot_count = snapshot_count * $2, artifact_count = artifact_count * $2,
     seen_seq = c.audit_seq from org_counters c where r.org_id = $1 and c.org_id = r.org_id`,
];

/** Brings up to date what triggers and the program count as they write. */
export async function addUp(client: pg.ClientBase, { orgId }: SeedRows, epochs: number): Promise<void> {
  for (const statement of statements) await client.query(statement, [orgId, epochs]);
  await client.query("select recount_turns()");
  // Nobody is to be told of what was reported long ago.
  await client.query("delete from notification_deliveries where status = 'waiting'");
}
