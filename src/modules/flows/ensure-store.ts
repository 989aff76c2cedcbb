import { sql } from "kysely";

import type { Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A flow found by a name it has or had. */
export interface NamedFlow {
  /** The name asked for. */
  name: string;
  id: string;
  /** Whether the name asked for is its own, not a former one. */
  by_name: boolean;
  archived: boolean;
}

/**
 * The flows behind names. A flow that was renamed is found by its former name until another flow takes it. They keep
 * their names until the transaction ends: one that is being renamed or archived is waited for. Everything that is
 * written under a flow holds this lock anyway; taken first, it is not waited for with the numbering already locked.
 */
export async function listFlowsByName(tx: Tx, orgId: string, names: readonly string[]): Promise<NamedFlow[]> {
  const { rows } = await sql<NamedFlow>`
    /* flows-by-name */ select asked.name, flow.id, flow.name = asked.name as by_name, flow.archived
    -- Not the parameter itself: its length would count in the plan, which would be made each time.
    from unnest((select ${names}::text[])) as asked (name)
    cross join lateral (
      select f.id, f.name, f.archived_at is not null as archived from flows f
      where f.org_id = ${orgId} and f.id = coalesce(
        (select named.id from flows named where named.org_id = ${orgId} and named.name = asked.name),
        (select former.flow_id from flow_former_names former
          where former.org_id = ${orgId} and former.name = asked.name))
      limit 1 for key share
    ) as flow`.execute(tx);
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

/**
 * Inserts flows with this template, passing over those that somebody else has inserted meanwhile. The names are then no
 * longer former names of other flows.
 */
export async function insertMissingFlows(
  tx: Tx,
  orgId: string,
  flows: readonly NewFlow[],
  template: string,
): Promise<void> {
  await sql`
    with inserted as (
      insert into flows (org_id, id, name, description, template, template_id, created_at, created_by_name)
      select ${orgId}, id, name, description, ${template}, template_id, to_timestamp(created_at), created_by_name
      from jsonb_to_recordset(${JSON.stringify(flows)}::jsonb)
        as i (id uuid, name text, description text, template_id uuid, created_at float8, created_by_name text)
      order by name collate "C"
      on conflict (org_id, name) do nothing
      returning name
    )
    delete from flow_former_names where org_id = ${orgId} and name in (select name from inserted)`.execute(
    tx,
  );
}
