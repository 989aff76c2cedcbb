import type { Executor } from "../../../../db/connect.ts";
import { integer, json, nullable, oneOf, type RowOf, text, uuid } from "../../../../db/row.ts";
import { moment, type Parameter, param, query, raw, type Sql, sql } from "../../../../db/sql.ts";
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

/**
 * Writes the id of the last version that a snapshot of the environment `w` or one before it brought. Versions are numbered in the order of
 * snapshots, so it is searched for by halves: no index has them by snapshots, since each report would have to write it.
 */
function lastVersionUpTo(org: Parameter, index: Sql): Sql {
  return sql`(
      with recursive search as (
        -- All up to "low" came with these snapshots, and none after "high".
        (select 0::bigint as low, id as high from snapshot_artifacts
        where org_id = ${org}::uuid and environment_id = w.environment_id order by id desc limit 1)
        union all
        select case when is_up_to then version.id else search.low end,
          case when is_up_to then search.high else middle.id - 1 end
        from search
        cross join lateral (select (search.low + search.high + 1) / 2 as id) middle
        left join lateral (
          select id, first_index <= ${index} as is_up_to from snapshot_artifacts
          where org_id = ${org}::uuid and environment_id = w.environment_id and id >= middle.id order by id limit 1) version on true
        where search.low < search.high)
      select low from search where low >= high)`;
}

/**
 * Lists what ran in environments in the snapshots from one to another; no more than `limit` rows in all. It reads what the first one
 * shows and what came with those after it, whatever came before.
 */
export function listRan(
  db: Executor,
  orgId: string,
  spans: readonly { environment_id: string; low: number; high: number }[],
  limit: number,
): Promise<RanRow[]> {
  const org = param(orgId);
  const columns = raw("environment_id, name, fingerprint, first_index, last_index");
  return db.all(query(ran)`
    select a.*
    from json_to_recordset(${JSON.stringify(spans)}::json) as w (environment_id uuid, low integer, high integer)
    cross join lateral (
      select ${columns} from (
        select version.* from snapshots s
        cross join lateral unnest(s.artifacts) as shown (id)
        cross join lateral (
          select ${columns}, type from snapshot_artifacts
          where org_id = ${org}::uuid and environment_id = w.environment_id and id = shown.id limit 1) version
        where s.org_id = ${org}::uuid and s.environment_id = w.environment_id and s.index = w.low
        union all
        select ${columns}, type from snapshot_artifacts
        where org_id = ${org}::uuid and environment_id = w.environment_id and w.low < w.high
          and id > ${lastVersionUpTo(org, raw("w.low"))} and id <= ${lastVersionUpTo(org, raw("w.high"))}) found
      where type <> 'exited') a
    limit ${limit}::bigint`);
}
