import { parseCrontab } from "graphile-worker";

import { daySeconds } from "./units.ts";

/** When something is done by the clock: minute, hour, day, month, weekday, in UTC. */
export interface Cron {
  /** As it was written. */
  text: string;
  /** Says whether it is done on the day that begins then, in Unix seconds. */
  isOn(day: number): boolean;
  /** The minutes of such a day at which it is done, from 0 to 1439. */
  minutes: readonly number[];
}

const fields = /^[\d*/,-]+(?: [\d*/,-]+){4}$/;

const minutesOfDay = 24 * 60;
const daysOfYear = 366;

type Match = (seconds: number) => boolean;

function readMatch(text: string): Match {
  const [item] = parseCrontab(`${text} task`);
  return (seconds) => {
    const time = new Date(seconds * 1000);
    const [min, hour] = [time.getUTCMinutes(), time.getUTCHours()];
    const [date, month, dow] = [time.getUTCDate(), time.getUTCMonth() + 1, time.getUTCDay()];
    return item?.match({ min, hour, date, month, dow }) === true;
  };
}

/**
 * Reads a time as crontabs have it: five fields of numbers, `*`, lists, ranges and steps, in UTC.
 * @throws Error that says what is wrong, also for one that does not come every year.
 */
export function parseCron(given: string): Cron {
  const text = given.trim().replaceAll(/\s+/g, " ");
  if (!fields.test(text)) throw new Error("must be minute, hour, day, month and weekday, such as 17 2 * * *");
  const match = readMatch(text);
  const minutesOn = (day: number): number[] =>
    Array.from({ length: minutesOfDay }, (_, minute) => minute).filter((minute) => match(day + minute * 60));
  for (let day = 0; day < daysOfYear * daySeconds; day += daySeconds) {
    // Which minutes they are does not depend on the day.
    const minutes = minutesOn(day);
    const [first] = minutes;
    if (first !== undefined) return { text, isOn: (other) => match(other + first * 60), minutes };
  }
  throw new Error("names no day that comes every year");
}

/** Finds when it is done next, after this moment; both in Unix seconds. */
export function nextTime({ isOn, minutes }: Cron, after: number): number {
  const today = Math.floor(after / daySeconds) * daySeconds;
  for (let day = today; ; day += daySeconds) {
    const minute = isOn(day) ? minutes.find((each) => day + each * 60 > after) : undefined;
    if (minute !== undefined) return day + minute * 60;
  }
}

/** Finds how many days lie between two days on which it is done, at most; 1 for what is done every day. */
export function mostDaysBetween({ isOn }: Cron): number {
  let [last, most]: [number | undefined, number] = [undefined, 1];
  for (let day = 0; day < 2 * daysOfYear; day += 1) {
    if (!isOn(day * daySeconds)) continue;
    if (last !== undefined) most = Math.max(most, day - last);
    last = day;
  }
  return most;
}
