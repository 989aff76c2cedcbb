import { sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A flow found by a name it has or had. */
export interface NamedFlow {
  name: string;
  id: string;
}

/** The flows behind names. A flow that was renamed is found by its former name until another flow takes it. */
export async function listFlowsByName(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<NamedFlow[]> {
  const { rows } = await sql<NamedFlow>`
    /* flows-by-name */ select asked.name, flow.id
    from unnest(${names}::text[]) as asked (name)
    cross join lateral (
      select f.id, 1 as choice from flows f where f.org_id = ${orgId} and f.name = asked.name
      union all
      select f.id, 2 from flow_former_names former
      join flows f on f.org_id = former.org_id and f.id = former.flow_id and f.archived_at is null
      where former.org_id = ${orgId} and former.name = asked.name
      order by choice limit 1
    ) as flow`.execute(db);
  return rows;
}

export interface NewFlow {
  id: string;
  name: string;
  description: string;
  template_id: string;
  created_by_name: string;
  created_at: Timestamp;
}

/** Inserts flows with this template, passing over those that somebody else has inserted meanwhile. */
export async function insertMissingFlows(
  tx: Tx,
  orgId: string,
  flows: readonly NewFlow[],
  template: string,
): Promise<void> {
  await sql`
    insert into flows (org_id, id, name, description, template, template_id, created_at, created_by_name)
    select ${orgId}, id, name, description, ${template}, template_id, to_timestamp(created_at), created_by_name
    from jsonb_to_recordset(${JSON.stringify(flows)}::jsonb)
      as i (id uuid, name text, description text, template_id uuid, created_at float8, created_by_name text)
    order by name collate "C"
    on conflict (org_id, name) do nothing`.execute(tx);
}
