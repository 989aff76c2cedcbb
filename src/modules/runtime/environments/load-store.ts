import type { Tx } from "../../../db/connect.ts";
import { sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** An environment with all it has become, ready to be written. */
export interface LoadedRow {
  id: string;
  name: string;
  type: string;
  description: string;
  tags: Record<string, string>;
  space_id: string | null;
  /** Derived from the members for logical ones, as are the times of report and change. */
  state: boolean | null;
  created_at: Timestamp;
  last_modified_at: Timestamp;
  last_reported_at: Timestamp | null;
  last_changed_at: Timestamp | null;
  /** Names of the members of a logical environment, in order. */
  members: string[];
}

/** Inserts live environments. Names must be free. */
export async function insertLoadedEnvironments(
  tx: Tx,
  orgId: string,
  rows: readonly LoadedRow[],
): Promise<void> {
  await tx.run(sql`
    insert into environments (org_id, id, name, type, description, tags, space_id, state, created_at,
      last_modified_at, last_reported_at, last_changed_at)
    select ${orgId}::uuid, id, name, type, description, tags, space_id, state, to_timestamp(created_at),
      to_timestamp(last_modified_at), to_timestamp(last_reported_at), to_timestamp(last_changed_at)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (id uuid, name text, type text, description text,
      tags jsonb, space_id uuid, state boolean, created_at float8, last_modified_at float8,
      last_reported_at float8, last_changed_at float8)`);
}

/** Inserts the members of new logical environments, which are found by name, and sets what follows from those. */
export async function insertLoadedMembers(
  tx: Tx,
  orgId: string,
  rows: readonly Pick<LoadedRow, "id" | "members">[],
): Promise<void> {
  const input = JSON.stringify(rows.map(({ id, members }) => ({ id, members })));
  await tx.run(sql`
    insert into environment_members (org_id, logical_id, member_id, position)
    select ${orgId}::uuid, r.id, e.id, member.position
    from jsonb_to_recordset(${input}::jsonb) as r (id uuid, members jsonb)
    cross join lateral jsonb_array_elements_text(r.members) with ordinality as member (name, position)
    join environments e on e.org_id = ${orgId}::uuid and e.name = member.name
    where e.archived_at is null and e.type <> 'logical'`);
  await tx.run(sql`
    update environments logical
    set last_modified_at = greatest(logical.last_modified_at, derived.changed),
      -- What had changed before shows first in the snapshot that it gets when it is made.
      last_changed_at = case when derived.changed is not null then greatest(logical.created_at, derived.changed) end,
      state = derived.state
    from (
      select em.logical_id, max(m.last_changed_at) as changed,
        case when bool_or(m.state is false) then false when bool_and(m.state is true) then true end as state
      from jsonb_to_recordset(${input}::jsonb) as r (id uuid)
      join environment_members em on em.org_id = ${orgId}::uuid and em.logical_id = r.id
      join environments m on m.org_id = em.org_id and m.id = em.member_id
      group by em.logical_id
    ) as derived
    where logical.org_id = ${orgId}::uuid and logical.id = derived.logical_id`);
}
