import { systemClock } from "../lib/clock.ts";
import { describeSpan } from "../lib/time-doubt.ts";
import { tolerance } from "../lib/time-guard.ts";
import { acceptDatabaseTime, timeRecords } from "../modules/time/store.ts";
import type { CommandDeps } from "./command-deps.ts";
import { CliError, print } from "./output.ts";

function shown(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/**
 * `waybill admin accept-time`: makes servers take the clock for right after a pause, or a jump, that they cannot explain.
 * @throws CliError when this machine and the database do not agree, and when records are ahead of both.
 */
export async function acceptTime({ db }: Pick<CommandDeps, "db">, wall = systemClock.now()): Promise<void> {
  const { database, recorded } = await timeRecords(db.query).exchange(undefined);
  const apart = Math.abs(wall - database);
  if (apart > tolerance)
    throw new CliError(
      `This machine's clock and the database's are ${describeSpan(apart)} apart: set the one that is wrong`,
    );
  const ahead = (recorded ?? database) - database;
  if (ahead > tolerance)
    throw new CliError(
      `Records are ${describeSpan(ahead)} ahead of the clock. If it is right, mend them with: waybill admin repair-times`,
    );
  print.line(
    `It is ${shown(await acceptDatabaseTime(db.query))}: servers take that for right within a quarter of a minute.`,
  );
}
