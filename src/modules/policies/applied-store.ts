import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";

/** The latest version of an attached policy. */
export interface AppliedRow {
  environment_id: string;
  /** Of the version. */
  id: string;
  name: string;
  version: number;
}

/** The latest versions of what is attached to environments, in the order of attachment. */
export async function listApplied(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<AppliedRow[]> {
  const { rows } = await sql<AppliedRow>`/* applied-policies */
    select a.environment_id, v.id, p.name, v.version
    from environment_policies a
    join policies p on p.org_id = a.org_id and p.id = a.policy_id
    join policy_versions v on v.org_id = p.org_id and v.policy_id = p.id and v.version = p.version
    where a.org_id = ${orgId} and a.environment_id = any(${environmentIds}::uuid[])
    order by a.id`.execute(db);
  return rows;
}

/** The texts of these versions. */
export async function listVersionTexts(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<{ id: string; text: string }[]> {
  const { rows } = await sql<{ id: string; text: string }>`
    select v.id, v.text from policy_versions v
    where v.org_id = ${orgId} and v.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}
