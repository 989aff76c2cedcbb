import type { Executor } from "../../../db/connect.ts";
import { nullable, text, uuid } from "../../../db/row.ts";
import { constant, identifier, moment, query, sql, type Sql } from "../../../db/sql.ts";
import {
  addMonths,
  firstIdOf,
  type Month,
  partitionOf,
  type PartitionedTable,
} from "../../../domain/partitions.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** Where entries of audit logs are sent. */
interface Target {
  id: string;
  name: string;
}

/** What decides on whether rows are needed, beside the rows. */
export interface NeedOptions {
  /** A trail that was reported to since then may go on, and a target that a server was to send to since then gets all audit logs. */
  quietSince: Timestamp;
  /** What gets all audit logs besides. */
  targets: readonly Target[];
  /** How many of those that need rows are named. */
  most: number;
}

/** Why rows of a month are needed. */
export interface Need {
  why: "runs" | "goes on" | "not sent";
  /** Those that need them, at most one more than asked for: `organization/environment`, `organization/flow/trail`, or a target. */
  names: string[];
}

interface Asked extends NeedOptions {
  rows: Sql;
  /** The first id of the month, and that of the next. */
  begun: { from: string; until: string };
}

/** Writes the table `owners` of those who have rows: each costs a look at the index of the key, whatever number of rows it has. */
function ownersOf(rows: Sql): Sql {
  return sql`recursive owners (id) as (
      (select org_id from ${rows} order by org_id limit 1)
      union all
      select (select p.org_id from ${rows} p where p.org_id > o.id order by p.org_id limit 1)
      from owners o where o.id is not null)`;
}

/** Writes a list of environments by `held`, a list of `org_id` and `environment_id`. Nothing runs in archived ones. */
function environmentsOf(held: Sql, { most }: Asked): Sql {
  return sql`
    select distinct o.name || '/' || e.name as name from (${held}) held
    join environments e on e.org_id = held.org_id and e.id = held.environment_id and e.archived_at is null
    join organizations o on o.id = held.org_id
    order by 1 limit ${constant(most + 1)}`;
}

/**
 * Writes a list of trails that may go on and have rows. Those begun in the month, nearly all, lie side by side, by their ids, and are read in one go; each of
 * the others is looked up once, whatever the planner takes to be in a partition.
 */
function trailsThatGoOn({ rows, begun, quietSince, most }: Asked): Sql {
  const ofOwner = sql`select * from trails where org_id = owners.id and last_modified_at >= ${moment(quietSince)}`;
  return sql`
    with ${ownersOf(rows)}
    select o.name || '/' || f.name || '/' || t.name as name from owners
    cross join lateral (
      select t.flow_id, t.name from (${ofOwner} and id >= ${begun.from}::uuid and id < ${begun.until}::uuid offset 0) t
      where exists (select from ${rows} p where p.org_id = owners.id and p.trail_id = t.id)
      union all
      select t.flow_id, t.name from (
        select trail_id from ${rows} where org_id = owners.id and trail_id < ${begun.from}::uuid
        union select trail_id from ${rows} where org_id = owners.id and trail_id >= ${begun.until}::uuid) p
      cross join lateral (${ofOwner} and id = p.trail_id offset 0) t) t
    join flows f on f.org_id = owners.id and f.id = t.flow_id
    join organizations o on o.id = owners.id
    where owners.id is not null
    order by 1 limit ${constant(most + 1)}`;
}

/**
 * Writes a list of environments in which something runs that has attestations: of itself, or on the trail by which a flow judges
 * it, which is that of its latest report there (`knownArtifacts` of snapshots).
 */
function runsWithAttestations(asked: Asked): Sql {
  const { rows } = asked;
  return environmentsOf(
    sql`
      select r.org_id, r.environment_id from running_artifacts r
      where r.fingerprint <> ''
        and exists (select from ${rows} p where p.org_id = r.org_id and p.artifact_fingerprint = r.fingerprint)
      union
      select r.org_id, r.environment_id from running_artifacts r
      cross join lateral (
        select distinct on (a.flow_id) a.trail_id
        from (select * from artifacts where org_id = r.org_id and fingerprint = r.fingerprint offset 0) a
        order by a.flow_id, a.id desc) known
      where r.fingerprint <> ''
        and exists (select from ${rows} p where p.org_id = r.org_id and p.trail_id = known.trail_id)`,
    asked,
  );
}

/** Writes a list of environments in which something runs whose trails have events. */
function runsWithEvents(asked: Asked): Sql {
  return environmentsOf(
    sql`
      select r.org_id, r.environment_id from running_artifacts r
      join snapshot_artifacts s on s.org_id = r.org_id and s.environment_id = r.environment_id and s.id = r.id
      where exists (select from ${asked.rows} p where p.org_id = s.org_id and p.trail_id = any(s.provenance))`,
    asked,
  );
}

/** Writes a list of the targets that have not got all entries. */
function targetsBehind({ rows, targets, quietSince, most }: Asked): Sql {
  return sql`
    with ${ownersOf(rows)}
    select target.name
    from (
      select id, name from audit_targets where named_at >= ${moment(quietSince)}
      union
      select * from unnest(${targets.map(({ id }) => id)}::text[], ${targets.map(({ name }) => name)}::text[])
    ) as target (id, name)
    where exists (
      select from owners o left join audit_cursors c on c.target = target.id and c.org_id = o.id
      where o.id is not null
        and exists (select from ${rows} p where p.org_id = o.id and p.seq > coalesce(c.seq, 0)))
    order by 1 limit ${constant(most + 1)}`;
}

/** Who may need rows of a table. */
const needs: Record<PartitionedTable, readonly { why: Need["why"]; names: (asked: Asked) => Sql }[]> = {
  attestations: [
    { why: "runs", names: runsWithAttestations },
    { why: "goes on", names: trailsThatGoOn },
  ],
  trail_events: [
    { why: "runs", names: runsWithEvents },
    { why: "goes on", names: trailsThatGoOn },
  ],
  audit_log: [{ why: "not sent", names: targetsBehind }],
};

/** Lists why rows of a month are still needed, nothing when they are not. Reads its partition, and stops nobody. */
export async function listNeeds(
  db: Executor,
  table: PartitionedTable,
  month: Month,
  options: NeedOptions,
): Promise<Need[]> {
  const begun = { from: firstIdOf(month), until: firstIdOf(addMonths(month, 1)) };
  const asked = { ...options, rows: identifier(partitionOf(table, month)), begun };
  const found: Need[] = [];
  for (const { why, names } of needs[table]) {
    const rows = await db.all(query({ name: text })`${names(asked)}`);
    if (rows.length > 0) found.push({ why, names: rows.map(({ name }) => name) });
  }
  return found;
}

/** Lists the organizations, or the log of the instance, that have rows in a partition. */
export async function listOwners(db: Executor, partition: string): Promise<string[]> {
  const rows = await db.all(query({ id: nullable(uuid) })`
    with ${ownersOf(identifier(partition))} select id from owners where id is not null`);
  return rows.flatMap(({ id }) => id ?? []);
}
