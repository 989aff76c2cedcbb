import { isDistributed } from "../db/citus/distribute.ts";
import { mendQueueTimes } from "../jobs/right-time.ts";
import { systemClock } from "../lib/clock.ts";
import { describeSpan } from "../lib/time-doubt.ts";
import { tolerance } from "../lib/time-guard.ts";
import { type Damage, findDamage, repairTimes } from "../modules/maintenance/time-repair/service.ts";
import { acceptDatabaseTime, timeRecords } from "../modules/kernel/time/store.ts";
import { table } from "./admin-lists.ts";
import { type CommandDeps, commandActor } from "./command-deps.ts";
import { CliError, print } from "./output.ts";

function shown(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Compares this machine's clock with the database's. @throws CliError when they are apart. */
function requireAgreement(wall: number, database: number): void {
  const apart = Math.abs(wall - database);
  if (apart > tolerance)
    throw new CliError(
      `This machine's clock and the database's are ${describeSpan(apart)} apart: set the one that is wrong`,
    );
}

/**
 * Runs `waybill admin accept-time`: makes servers take the clock for right after a pause, or a jump, that they cannot explain.
 * @throws CliError when this machine and the database do not agree, and when records are ahead of both.
 */
export async function acceptTime({ db }: Pick<CommandDeps, "db">, wall = systemClock.now()): Promise<void> {
  const { database, recorded } = await timeRecords(db).exchange(undefined);
  requireAgreement(wall, database);
  const ahead = (recorded ?? database) - database;
  if (ahead > tolerance)
    throw new CliError(
      `Records are ${describeSpan(ahead)} ahead of the clock. If the clock is right, repair them with: waybill admin repair-times`,
    );
  print.line(`Accepted the time ${shown(await acceptDatabaseTime(db))}. Servers go by it within 15 seconds.`);
}

/** What `repair-times` is asked for. */
export interface RepairOptions {
  apply?: boolean;
  /** Unix seconds, or a date as ISO 8601. */
  after?: string;
}

function readAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : Date.parse(text) / 1000;
  if (Number.isFinite(seconds)) return seconds;
  throw new CliError(`'${text}' is not a time: give Unix seconds or a date such as 2030-12-31`);
}

function describeDamage({ columns, subjects, shifts }: Damage): void {
  const byColumn = new Map<string, { rows: number; earliest: number; latest: number }>();
  for (const { table: name, column, rows, earliest, latest } of columns) {
    const key = `${name}.${column}`;
    const known = byColumn.get(key) ?? { rows: 0, earliest: Infinity, latest: -Infinity };
    byColumn.set(key, {
      rows: known.rows + rows,
      earliest: Math.min(known.earliest, earliest),
      latest: Math.max(known.latest, latest),
    });
  }
  const rows = [...byColumn].map(([name, { rows: count, earliest, latest }]) => [
    name,
    count,
    shown(earliest),
    shown(latest),
  ]);
  for (const line of table(["column", "rows", "from", "to"], rows)) print.line(line);
  const named = subjects.map(({ org, kind, name, rows: count }) => [org, kind, name, count]);
  if (named.length > 0)
    for (const line of table(["organization", "what", "name", "records"], named)) print.line(line);
  for (const { first, seconds } of shifts)
    print.line(
      `At ${shown(first)} the clock was ${describeSpan(seconds)} ahead: that was ${shown(first - seconds)}`,
    );
}

/**
 * Runs `waybill admin repair-times`: shows what was written under a clock that was ahead, and with `apply` gives it the times it
 * would have. @throws CliError when this machine and the database do not agree on the time.
 */
export async function repairTimesCommand(
  deps: CommandDeps,
  { apply, after: text }: RepairOptions,
  wall = systemClock.now(),
): Promise<void> {
  if (await isDistributed(deps.db.pool))
    throw new CliError("Times cannot be repaired on Citus: restore a backup from before the clock was wrong");
  const after = readAfter(text);
  requireAgreement(wall, (await timeRecords(deps.db).exchange(undefined)).database);
  const damage =
    apply === true
      ? await repairTimes(deps, commandActor("admin repair-times"), after)
      : await findDamage(deps, after);
  if (apply === true) await mendQueueTimes(deps.db);
  if (damage.columns.length === 0) return print.line("No record has a time in the future.");
  describeDamage(damage);
  print.line(
    apply === true
      ? "Repaired these times. Servers accept reports again within 15 seconds."
      : "Nothing was changed. Make a backup, then repair it with: waybill admin repair-times --apply",
  );
}
