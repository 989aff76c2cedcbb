import { type RawBuilder, sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import type { Shift, WrongMoment } from "../../domain/time-shifts.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { repairedColumns } from "./columns.ts";

/** Which moments are wrong: those after `after`. None becomes later than `now`. */
export interface Horizon {
  now: Timestamp;
  after: Timestamp;
}

/** Unix seconds in a statement whose text does not depend on them. */
export function at(seconds: Timestamp): RawBuilder<unknown> {
  return sql`to_timestamp(${seconds}::float8)`;
}

/** Wrong moments of one column in one organization. */
export interface DamageRow {
  table: string;
  column: string;
  org_id: string | null;
  rows: number;
  earliest: Timestamp;
  latest: Timestamp;
}

/** Counts wrong moments, in every column that may have some. Reads every table. */
export async function countDamage(db: Executor, { after }: Horizon): Promise<DamageRow[]> {
  const { rows: owned } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'org_id'`.execute(db);
  const ofOrganizations = new Set(owned.map(({ name }) => name));
  const damage: DamageRow[] = [];
  for (const [table, columns] of repairedColumns())
    for (const column of columns) {
      const org = ofOrganizations.has(table)
        ? sql`org_id`
        : table === "organizations"
          ? sql`id`
          : sql`null::uuid`;
      const moment = sql`${sql.ref(column)}::timestamptz`;
      const { rows } = await sql<Omit<DamageRow, "table" | "column">>`
        select ${org} as org_id, count(*)::float8 as rows, epoch(min(${moment}))::float8 as earliest,
          epoch(max(${moment}))::float8 as latest
        from ${sql.table(table)} where ${sql.ref(column)} > ${at(after)} and ${sql.ref(column)} < 'infinity'
        group by 1 order by 1`.execute(db);
      damage.push(...rows.map((row) => ({ table, column, ...row })));
    }
  return damage;
}

/** Something of an organization with wrong moments, for people to recognise. */
export interface DamagedSubject {
  org: string;
  kind: "environment" | "repo";
  name: string;
  rows: number;
}

/** Environments with wrong snapshots or reports, and repos with wrong builds. */
export async function listDamagedSubjects(db: Executor, { after }: Horizon): Promise<DamagedSubject[]> {
  const { rows } = await sql<DamagedSubject>`
    select o.name as org, d.kind, d.name, sum(d.rows)::float8 as rows from (
      select e.org_id, 'environment' as kind, e.name, s.rows from environments e join (
        select org_id, environment_id, count(*) as rows from snapshots where created_at > ${at(after)} group by 1, 2
      ) s on s.org_id = e.org_id and s.environment_id = e.id
      union all
      select org_id, 'environment', name, 1 from environments where last_reported_at > ${at(after)}
      union all
      select b.org_id, 'repo', coalesce(r.name, '(none)'), count(*) from builds b
      left join repos r on r.org_id = b.org_id and r.id = b.repo_id
      where b.created_at > ${at(after)} group by 1, 2, 3
    ) d join organizations o on o.id = d.org_id
    group by 1, 2, 3 order by 1, 2, 3`.execute(db);
  return rows;
}

/** The names of organizations. */
export function listOrganizationNames(
  db: Executor,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom("organizations")
    .select(["id", "name"])
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .orderBy("id")
    .execute();
}

const pageSize = 5000;

/** Wrong entries of audit logs with the right ones around them, in order of time. */
export async function* wrongEntries(tx: Tx, { now, after }: Horizon): AsyncGenerator<WrongMoment> {
  await sql`declare wrong_entries no scroll cursor for
    select epoch(occurred_at)::float8 as at, coalesce(epoch(earliest)::float8, '-infinity') as earliest,
      greatest(epoch(least(coalesce(latest, ${at(now)}), ${at(now)})), coalesce(epoch(earliest), 0))::float8 as latest
    from (
      select l.occurred_at,
        max(l.occurred_at) filter (where l.occurred_at <= ${at(now)})
          over (partition by l.org_id order by l.seq) as earliest,
        min(l.occurred_at) filter (where l.occurred_at <= ${at(now)})
          over (partition by l.org_id order by l.seq rows between current row and unbounded following) as latest
      from audit_log l join (
        select org_id, min(seq) as seq from audit_log where occurred_at > ${at(after)} group by org_id
      ) f on f.org_id = l.org_id and l.seq >= f.seq - 1
    ) entries where occurred_at > ${at(after)} order by occurred_at`.execute(tx);
  for (;;) {
    const { rows } = await sql<WrongMoment>`fetch ${sql.lit(pageSize)} from wrong_entries`.execute(tx);
    yield* rows;
    if (rows.length < pageSize) break;
  }
  await sql`close wrong_entries`.execute(tx);
}

/**
 * Makes `pg_temp.right_time(moment)`, which tells when something with a wrong time was, for the rest of the transaction;
 * what no entry of an audit log tells of was now.
 */
export async function prepareRightTime(tx: Tx, shifts: readonly Shift[], { now }: Horizon): Promise<void> {
  await sql`create temporary table time_shifts on commit drop as
    select to_timestamp(first) as first, to_timestamp(last) as last, make_interval(secs => seconds) as shift
    from json_to_recordset(${JSON.stringify(shifts)}::json) as s (first float8, last float8, seconds float8)`.execute(
    tx,
  );
  await sql`create or replace function pg_temp.right_time(moment timestamptz) returns timestamptz language sql stable as ${sql.lit(`
    select coalesce((
      select least(moment - shift, to_timestamp(${now})) from pg_temp.time_shifts
      order by greatest(first - moment, moment - last, interval '0') limit 1), to_timestamp(${now}))`)}`.execute(
    tx,
  );
}
