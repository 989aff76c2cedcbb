import type { Tx } from "../../../db/connect.ts";
import { type RowOf, text, uuid } from "../../../db/row.ts";
import { writtenLast } from "../../../db/lock.ts";
import { constant, identifier, join, moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { daySeconds } from "../../../lib/units.ts";
import { shiftedColumns } from "./columns-sql.ts";
import type { Horizon } from "./damage-store.ts";

/** Lets nobody write until the transaction ends; people go on reading. */
export async function lockRecords(tx: Tx): Promise<void> {
  const tables = await tx.all(query({ name: text })`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'migrations'
    order by relname = any(${writtenLast}::text[]), relname`);
  await tx.run(sql`set local statement_timeout = 0`);
  await tx.run(sql`set local idle_in_transaction_session_timeout = 0`);
  await tx.run(
    sql`lock table ${join(tables.map(({ name }) => identifier("public", name)))} in share row exclusive mode`,
  );
}

/**
 * Lifts what keeps records from being changed while `work` runs: for this transaction alone, by name, and back before it
 * ends. Needs the owner of the tables.
 */
export async function withoutGuards<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const guards = await tx.all(query({ table: text, name: text })`
    select c.relname as table, t.tgname as name
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
    where c.relnamespace = 'public'::regnamespace and p.proname in ('forbid_change', 'end_version_only', 'keep_former_repo')
      and t.tgenabled = 'O' order by 1, 2`);
  const set = async (how: "disable" | "enable"): Promise<void> => {
    for (const { table, name } of guards)
      await tx.run(sql`alter table ${identifier("public", table)} ${raw(how)} trigger ${identifier(name)}`);
  };
  await set("disable");
  const result = await work();
  await set("enable");
  return result;
}

/** Writes SQL for the right time of a column. */
function righted(column: Sql, { after }: Horizon): Sql {
  return sql`case when ${column} > ${moment(after)} then pg_temp.right_time(${column}) else ${column} end`;
}

/** Sets back every moment that no order or other record depends on. */
export async function shiftColumns(tx: Tx, horizon: Horizon): Promise<void> {
  for (const [table, columns] of shiftedColumns()) {
    const refs = columns.map((column) => identifier(column));
    await tx.run(sql`update ${identifier(table)}
      set ${join(refs.map((ref) => sql`${ref} = ${righted(ref, horizon)}`))}
      where ${join(
        refs.map((ref) => sql`${ref} > ${moment(horizon.after)}`),
        " or ",
      )}`);
  }
}

/** Sets rotations of keys back, and the end of what they left to the secrets before by as much. */
export async function repairKeys(tx: Tx, { after }: Horizon): Promise<void> {
  const ahead = sql`(k.rotated_at - pg_temp.right_time(k.rotated_at))`;
  await tx.run(sql`update api_key_former_secrets s set ends_at = s.ends_at - ${ahead}
    from api_keys k where k.id = s.key_id and k.rotated_at > ${moment(after)} and s.ends_at > k.rotated_at`);
  await tx.run(sql`update api_keys k set rotated_at = pg_temp.right_time(k.rotated_at),
      grace_period_expires_at = k.grace_period_expires_at - ${ahead}
    where k.rotated_at > ${moment(after)}`);
}

/**
 * Writes SQL for a table of moments that grow with a number: what is estimated for those that are wrong, moved as
 * little as it takes to keep the order of the numbers, between the right ones around them.
 * @param rows SQL for rows with `part`, `number`, `moment`, `estimate` (null when there is none) and whatever else.
 */
export function inOrder(rows: Sql, { now, after }: Horizon): Sql {
  const time = sql`case when moment > ${moment(after)} then least(estimate, ${moment(now)}) else moment end`;
  return sql`
    select *, least(${moment(now)},
        max(time) over (partition by part order by number),
        min(time) filter (where moment <= ${moment(after)})
          over (partition by part order by number rows between current row and unbounded following)) as righted
    from (select *, ${time} as time from (${rows}) estimated) timed`;
}

/** Gives entries of audit logs times in the order of their numbers. */
export async function repairAuditLog(tx: Tx, horizon: Horizon): Promise<void> {
  const { after } = horizon;
  const rows = sql`select l.org_id as part, l.seq as number, l.occurred_at as moment,
      pg_temp.right_time(l.occurred_at) as estimate
    from audit_log l join (
      select org_id, min(seq) as seq from audit_log where occurred_at > ${moment(after)} group by org_id
    ) f on f.org_id = l.org_id and l.seq >= f.seq - 1`;
  await tx.run(sql`update audit_log l set occurred_at = n.righted from (${inOrder(rows, horizon)}) n
    where l.org_id = n.part and l.seq = n.number and l.occurred_at > ${moment(after)}`);
}

/**
 * Gives builds the times of the reports that made them, in the order of their numbers, also in their JSON; and the
 * organization the time of its last one. Needs the times of artifacts repaired.
 */
export async function repairBuilds(tx: Tx, horizon: Horizon): Promise<void> {
  const { after } = horizon;
  const rows = sql`select b.org_id as part, b.number, b.created_at as moment, a.created_at as estimate
    from builds b join (
      select org_id, min(number) as number from builds where created_at > ${moment(after)} group by org_id
    ) f on f.org_id = b.org_id and b.number >= f.number - 1
    left join artifacts a on a.org_id = b.org_id and a.id = b.artifact_id`;
  await tx.run(sql`update builds b set created_at = n.righted,
      json = '"created_at":' || epoch(n.righted)::text || substr(b.json, strpos(b.json, ','))
    from (${inOrder(rows, horizon)}) n
    where b.org_id = n.part and b.number = n.number and b.created_at > ${moment(after)}`);
  await tx.run(sql`update org_counters c set last_build_at = coalesce((
      select created_at from builds b where b.org_id = c.org_id order by number desc limit 1), '-infinity')
    where last_build_at > ${moment(after)}`);
}

const damagedTrail = { org_id: uuid, trail_id: uuid };

/** A trail whose verdict tells a wrong time. */
export type DamagedTrail = RowOf<typeof damagedTrail>;

/** Notes which trails have something with a wrong time, before that is repaired. */
export async function noteDamagedTrails(tx: Tx, { after }: Horizon): Promise<void> {
  await tx.run(sql`create temporary table damaged_trails on commit drop as
    select org_id, id as trail_id from trails where greatest(created_at, last_modified_at) > ${moment(after)}
    union select org_id, trail_id from artifacts where created_at > ${moment(after)}
    union select org_id, trail_id from attestations where created_at > ${moment(after)}`);
}

/** Lists a page of those trails, in order, after `beyond` unless that is undefined. */
export function listDamagedTrails(
  tx: Tx,
  beyond: DamagedTrail | undefined,
  limit: number,
): Promise<DamagedTrail[]> {
  const start = beyond ?? { org_id: null, trail_id: null };
  return tx.all(query(damagedTrail)`
    select org_id, trail_id from damaged_trails
    where ${beyond === undefined} or (org_id, trail_id) > (${start.org_id}::uuid, ${start.trail_id}::uuid)
    order by org_id, trail_id limit ${constant(limit)}`);
}

/** Gives trails the time of the last thing that was reported on them. Needs everything on them repaired. */
export async function repairTrails(tx: Tx, { now, after }: Horizon): Promise<void> {
  await tx.run(sql`update trails t set last_modified_at = least(${moment(now)}, greatest(t.created_at,
      (select max(created_at) from artifacts a where a.org_id = t.org_id and a.trail_id = t.id),
      (select max(created_at) from attestations a where a.org_id = t.org_id and a.trail_id = t.id),
      (select max(occurred_at) from trail_events e where e.org_id = t.org_id and e.trail_id = t.id
        and e.type not in ('artifact_started_running', 'artifact_stopped_running'))))
    where last_modified_at > ${moment(after)}`);
}

/** Finds anew what flows of damaged trails show of their latest trail and artifact. Needs the verdicts. */
export async function rebuildActivity(tx: Tx): Promise<void> {
  await tx.run(sql`create temporary table damaged_flows on commit drop as
    select distinct t.org_id, t.flow_id from damaged_trails d join trails t on t.org_id = d.org_id and t.id = d.trail_id`);
  await tx.run(sql`delete from flow_activity a using damaged_flows d
    where a.org_id = d.org_id and a.flow_id = d.flow_id`);
  await tx.run(sql`insert into flow_activity (org_id, flow_id, trail_id, last_modified_at, state, active_minute, json,
      artifact_id, repo_id, repo_url)
    select f.org_id, f.id, t.id, t.last_modified_at, c.state,
      date_trunc('minute', t.last_modified_at at time zone 'UTC'),
      epoch(t.last_modified_at)::text || ',"latest_state":"' || c.state || '"}', a.id,
      case when coalesce(a.repo_url, '') = '' then a.repo_id end, nullif(a.repo_url, '')
    from damaged_flows d
    join flows f on f.org_id = d.org_id and f.id = d.flow_id and f.archived_at is null
    cross join lateral (
      select id, last_modified_at from trails
      where org_id = f.org_id and flow_id = f.id order by last_modified_at desc, id desc limit 1) t
    join trail_compliance c on c.org_id = f.org_id and c.trail_id = t.id
    left join lateral (
      select id, repo_id, repo_url from artifacts
      where org_id = f.org_id and flow_id = f.id order by id desc limit 1) a on true`);
}

/** Sets back what notifications tell of when things happened, and lets those that wait wait no longer. */
export async function repairNotifications(tx: Tx, { now, after }: Horizon): Promise<void> {
  await tx.run(sql`update notification_deliveries
    set occurrence = jsonb_set(occurrence, '{at}',
      to_jsonb(epoch(pg_temp.right_time(to_timestamp((occurrence ->> 'at')::float8)))))
    where (occurrence ->> 'at')::float8 > ${after}::float8`);
  await tx.run(sql`update notification_deliveries set next_attempt_at = ${moment(now)}
    where next_attempt_at > ${moment(after + daySeconds)}`);
}

/** Sets back when what trails tell of happened, and what is told of repos with it where an event keeps that itself. */
export async function repairTrailEvents(tx: Tx, horizon: Horizon): Promise<void> {
  const { after } = horizon;
  await tx.run(sql`update trail_events e set occurred_at = s.righted from snapshot_times s
    where e.occurred_at > ${moment(after)} and e.org_id = s.org_id
      and e.type in ('artifact_started_running', 'artifact_stopped_running')
      and s.environment_id = coalesce(e.environment_id, ((e.data ->> 'environment_id') || '0000')::uuid)
      and s.index = coalesce(e.snapshot_index, (e.data ->> 'snapshot_index')::integer)`);
  await tx.run(sql`update trail_events set occurred_at = pg_temp.right_time(occurred_at)
    where occurred_at > ${moment(after)}`);
  for (const name of ["created_at", "last_modified_at"]) await repairRepoInEvents(tx, name, horizon);
}

/** Puts another time in place of this one in what events tell of repos, and leaves every other character alone. */
async function repairRepoInEvents(tx: Tx, name: string, { after }: Horizon): Promise<void> {
  const told = sql`e.data #>> array['repo_info', ${name}::text]`;
  await tx.run(sql`update trail_events e set data = regexp_replace(e.data::text,
      '("' || ${name}::text || '"\\s*:\\s*)' || replace(${told}, '.', '\\.') || '(?![0-9.])',
      '\\1' || epoch(pg_temp.right_time(to_timestamp((${told})::float8)))::text)::json
    where json_typeof(e.data #> array['repo_info', ${name}::text]) = 'number' and (${told})::float8 > ${after}::float8`);
}

/** Notes that times are right again, and lets new ids come after those that were made under the wrong clock. */
export async function repairMark(tx: Tx, { now }: Horizon, latest: number): Promise<void> {
  const offset = Math.ceil((latest - now) * 1000) + 60_000;
  await tx.run(sql`insert into time_marks as known (recorded_at, id_offset) values (${moment(now)}, ${offset}::bigint)
    on conflict (one) do update set recorded_at = least(known.recorded_at, excluded.recorded_at),
      id_offset = greatest(known.id_offset, excluded.id_offset)`);
}
