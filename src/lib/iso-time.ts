import type { Timestamp } from "./clock.ts";

const pattern =
  /^(?<date>\d{4}-\d{2}-\d{2})(?:[T ](?<time>\d{2}:\d{2}(?::\d{2})?)(?<fraction>\.\d{1,12})?(?<zone>Z|[+\- ]\d{2}:?\d{2})?)?$/i;

/** Reads a time zone's offset, in seconds ahead of UTC. In a query an unescaped plus arrives as a blank. */
function offsetOf(zone: string): number | undefined {
  const digits = zone.replace(":", "");
  const [hours, minutes] = [Number(digits.slice(1, 3)), Number(digits.slice(3, 5))];
  if (hours > 23 || minutes > 59) return undefined;
  return (digits.startsWith("-") ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/**
 * Reads a day, or a day and time, in ISO 8601: `2026-08-01`, `2026-08-01T12:30`, `2026-08-01T12:30:00.5+02:00`. UTC
 * unless it says otherwise; from 1970 to 9999.
 * @returns Unix seconds; undefined for other texts, and for days and times that do not exist.
 */
export function parseIsoTime(text: string): Timestamp | undefined {
  const groups = pattern.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { date = "", time = "00:00", fraction = "", zone = "Z" } = groups;
  const local = `${date}T${time.length === 5 ? `${time}:00` : time}`;
  const moment = new Date(`${local}Z`);
  // A day that a month does not have would count as one of the next.
  if (Number.isNaN(moment.getTime()) || !moment.toISOString().startsWith(local)) return undefined;
  const offset = zone.toUpperCase() === "Z" ? 0 : offsetOf(zone);
  if (offset === undefined) return undefined;
  const microseconds = Math.round(Number(`0${fraction}`) * 1e6);
  const seconds = moment.getTime() / 1000 - offset + microseconds / 1e6;
  return seconds >= 0 && seconds < 253_402_300_800 ? seconds : undefined;
}

/** Writes a moment for people: `2026-08-01 12:30:00 UTC`. */
export function utcText(at: Timestamp): string {
  const moment = new Date(at * 1000);
  if (Number.isNaN(moment.getTime())) return `${at} seconds after 1970`;
  return `${moment
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "")} UTC`;
}
