import type { Executor, Tx } from "../../../db/connect.ts";
import { float, nullable, oneOf, type RowOf, text, uuid } from "../../../db/row.ts";
import { constant, identifier, moment, query, sql } from "../../../db/sql.ts";
import type { Org } from "../../../domain/principal.ts";
import type { Shift, WrongMoment } from "../../../domain/time-shifts.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { repairedColumns } from "./columns-sql.ts";

/** Which moments are wrong: those after `after`. None becomes later than `now`. */
export interface Horizon {
  now: Timestamp;
  after: Timestamp;
}

const damaged = { org_id: nullable(uuid), rows: float, earliest: float, latest: float };

/** Wrong moments of one column in one organization: how many rows, and the first and the last of them in Unix seconds. */
export interface DamageRow extends RowOf<typeof damaged> {
  table: string;
  column: string;
}

/** Counts wrong moments, in every column that may have some. Reads every table. */
export async function countDamage(db: Executor, { after }: Horizon): Promise<DamageRow[]> {
  const owned = await db.all(query({ name: text })`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'org_id'`);
  const ofOrganizations = new Set(owned.map(({ name }) => name));
  const damage: DamageRow[] = [];
  for (const [table, columns] of repairedColumns())
    for (const column of columns) {
      const org = ofOrganizations.has(table)
        ? sql`org_id`
        : table === "organizations"
          ? sql`id`
          : sql`null::uuid`;
      const value = sql`${identifier(column)}::timestamptz`;
      const rows = await db.all(query(damaged)`
        select ${org} as org_id, count(*)::float8 as rows, epoch(min(${value}))::float8 as earliest,
          epoch(max(${value}))::float8 as latest
        from ${identifier(table)}
        where ${identifier(column)} > ${moment(after)} and ${identifier(column)} < 'infinity'
        group by 1 order by 1`);
      damage.push(...rows.map((row) => ({ table, column, ...row })));
    }
  return damage;
}

const damagedSubject = { org: text, kind: oneOf(["environment", "repo"]), name: text, rows: float };

/** Something of an organization with wrong moments, for people to recognise. */
export type DamagedSubject = RowOf<typeof damagedSubject>;

/** Lists environments with wrong snapshots or reports, and repos with wrong builds. */
export function listDamagedSubjects(db: Executor, { after }: Horizon): Promise<DamagedSubject[]> {
  return db.all(query(damagedSubject)`
    select o.name as org, d.kind, d.name, sum(d.rows)::float8 as rows from (
      select e.org_id, 'environment' as kind, e.name, s.rows from environments e join (
        select org_id, environment_id, count(*) as rows from snapshots where created_at > ${moment(after)} group by 1, 2
      ) s on s.org_id = e.org_id and s.environment_id = e.id
      union all
      select org_id, 'environment', name, 1 from environments where last_reported_at > ${moment(after)}
      union all
      select b.org_id, 'repo', coalesce(r.name, '(none)'), count(*) from builds b
      left join repos r on r.org_id = b.org_id and r.id = b.repo_id
      where b.created_at > ${moment(after)} group by 1, 2, 3
    ) d join organizations o on o.id = d.org_id
    group by 1, 2, 3 order by 1, 2, 3`);
}

/** Reads the names of organizations, in order of their ids. */
export function listOrganizationNames(db: Executor, ids: readonly string[]): Promise<Org[]> {
  return db.all(query({ id: uuid, name: text })`
    select id, name from organizations where id = any(${ids}::uuid[]) order by id`);
}

const wrongMoment = { at: float, earliest: float, latest: float };

const pageSize = 5000;

/** Reads wrong entries of audit logs with the right ones around them, in order of time. */
export async function* wrongEntries(tx: Tx, { now, after }: Horizon): AsyncGenerator<WrongMoment> {
  await tx.run(sql`declare wrong_entries no scroll cursor for
    select epoch(occurred_at)::float8 as at, coalesce(epoch(earliest)::float8, '-infinity') as earliest,
      greatest(epoch(least(coalesce(latest, ${moment(now)}), ${moment(now)})), coalesce(epoch(earliest), 0))::float8 as latest
    from (
      select l.occurred_at,
        max(l.occurred_at) filter (where l.occurred_at <= ${moment(now)})
          over (partition by l.org_id order by l.seq) as earliest,
        min(l.occurred_at) filter (where l.occurred_at <= ${moment(now)})
          over (partition by l.org_id order by l.seq rows between current row and unbounded following) as latest
      from audit_log l join (
        select org_id, min(seq) as seq from audit_log where occurred_at > ${moment(after)} group by org_id
      ) f on f.org_id = l.org_id and l.seq >= f.seq - 1
    ) entries where occurred_at > ${moment(after)} order by occurred_at`);
  for (;;) {
    const rows = await tx.all(query(wrongMoment)`fetch ${constant(pageSize)} from wrong_entries`);
    yield* rows;
    if (rows.length < pageSize) break;
  }
  await tx.run(sql`close wrong_entries`);
}

/**
 * Makes `pg_temp.right_time(moment)`, which tells when something with a wrong time was, for the rest of the transaction;
 * what no entry of an audit log tells of was now.
 */
export async function prepareRightTime(tx: Tx, shifts: readonly Shift[], { now }: Horizon): Promise<void> {
  await tx.run(sql`create temporary table time_shifts on commit drop as
    select to_timestamp(first) as first, to_timestamp(last) as last, make_interval(secs => seconds) as shift
    from json_to_recordset(${JSON.stringify(shifts)}::json) as s (first float8, last float8, seconds float8)`);
  const latest = sql`to_timestamp(${constant(now)})`;
  await tx.run(sql`
    create or replace function pg_temp.right_time(moment timestamptz) returns timestamptz language sql stable
    as $right_time$
      select coalesce((
        select least(moment - shift, ${latest}) from pg_temp.time_shifts
        order by greatest(first - moment, moment - last, interval '0') limit 1), ${latest})
    $right_time$`);
}
