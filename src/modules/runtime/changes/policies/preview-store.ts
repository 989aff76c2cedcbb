import type { Executor } from "../../../../db/connect.ts";
import { integer, json, nullable, oneOf, type RowOf, text, uuid } from "../../../../db/row.ts";
import { moment, query, sql } from "../../../../db/sql.ts";
import { environmentTypes } from "../../../../domain/environments.ts";
import type { RecordedSnapshot } from "../../../../domain/policy/preview.ts";

/** An environment with the snapshots that were in force in some time. */
const past = {
  id: uuid,
  name: text,
  type: oneOf(environmentTypes),
  /** By index, without gaps; at least one. */
  snapshots: json<RecordedSnapshot[]>(),
};
export type PastRow = RowOf<typeof past>;

/** Which environments, all that live when there are no ids, and when: Unix seconds, both included. */
export interface PastFilter {
  ids: readonly string[] | undefined;
  from: number;
  to: number;
}

/** Lists the snapshots that were in force in a time, by environment; no more than `limit` in all, the earliest ones. */
export function listPast(
  db: Executor,
  orgId: string,
  { ids, from, to }: PastFilter,
  limit: number,
): Promise<PastRow[]> {
  const wanted = ids === undefined ? sql`not e.archived` : sql`e.id = any(${ids}::uuid[])`;
  return db.all(query(past)`
    select id, name, type, json_agg(json_build_object('index', index, 'timestamp', epoch(created_at),
      'compliant', compliant) order by index) as snapshots
    from (
      select e.id, e.name, e.type, s.index, s.created_at, s.compliant
      from environments e
      left join lateral (
        select index from snapshots s
        where s.org_id = ${orgId} and s.environment_id = e.id and s.created_at <= ${moment(from)}
        order by s.created_at desc, s.index desc limit 1
      ) as before on true
      join snapshots s on s.org_id = e.org_id and s.environment_id = e.id and s.index >= coalesce(before.index, 1)
        and s.created_at <= ${moment(to)}
      where e.org_id = ${orgId} and ${wanted}
      order by e.name, s.index limit ${limit}::bigint
    ) as found
    group by id, name, type order by name`);
}

/** An artifact that ran in an environment, from one snapshot to another; without a last one it runs still. */
const ran = {
  environment_id: uuid,
  name: text,
  fingerprint: text,
  first_index: integer,
  last_index: nullable(integer),
};
export type RanRow = RowOf<typeof ran>;

/** Lists what ran in environments in the snapshots from one to another; no more than `limit` rows in all. */
export function listRan(
  db: Executor,
  orgId: string,
  spans: readonly { environment_id: string; low: number; high: number }[],
  limit: number,
): Promise<RanRow[]> {
  return db.all(query(ran)`
    select a.environment_id, a.name, a.fingerprint, a.first_index, a.last_index
    from json_to_recordset(${JSON.stringify(spans)}::json) as w (environment_id uuid, low integer, high integer)
    join snapshot_artifacts a on a.org_id = ${orgId} and a.environment_id = w.environment_id
    where a.type <> 'exited' and a.first_index <= w.high and (a.last_index is null or a.last_index >= w.low)
    limit ${limit}::bigint`);
}
