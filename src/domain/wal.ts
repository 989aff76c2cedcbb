import { daySeconds } from "../lib/units.ts";

/** Bytes of a file of PostgreSQL's write-ahead log (WAL), before it is compressed: what clusters are made with. */
export const segmentBytes = 16 * 1024 * 1024;

/** Names of files of the log: timeline and number, in hexadecimal digits. */
const segmentPattern = /^[0-9A-F]{24}$/;

const segmentsPerLog = 2 ** 32 / segmentBytes;

const hex = (value: number): string => value.toString(16).toUpperCase().padStart(8, "0");

/** Names the file of the log with this number on a timeline. */
function nameOf(timeline: number, number: number): string {
  return hex(timeline) + hex(Math.floor(number / segmentsPerLog)) + hex(number % segmentsPerLog);
}

/** Reads the number of a file of the log from its name. */
function numberOf(name: string): number {
  return Number.parseInt(name.slice(8, 16), 16) * segmentsPerLog + Number.parseInt(name.slice(16), 16);
}

/** Names the file of the log that has a place in it, such as `1/A0000028`. */
export function segmentOf(timeline: number, lsn: string): string {
  const [high = "0", low = "0"] = lsn.split("/");
  const number =
    Number.parseInt(high, 16) * segmentsPerLog + Math.floor(Number.parseInt(low, 16) / segmentBytes);
  return nameOf(timeline, number);
}

/** How far the files of an archive reach without one missing. */
export interface Reach {
  /** The last file that can be used; undefined when the first one is missing. */
  last: string | undefined;
  /** The next one that is there after those missing; undefined when none is missing. */
  beyond: string | undefined;
}

/** Follows the files of a log from one on, on its timeline, to the first one missing. */
export function followSegments(names: readonly string[], from: string): Reach {
  const timeline = Number.parseInt(from.slice(0, 8), 16);
  const later = names
    .filter((name) => segmentPattern.test(name) && name.slice(0, 8) === from.slice(0, 8) && name >= from)
    .sort();
  let number = numberOf(from);
  let last: string | undefined;
  for (const name of later) {
    if (name !== nameOf(timeline, number)) return { last, beyond: name };
    last = name;
    number += 1;
  }
  return { last, beyond: undefined };
}

/** Chooses the files of an archive that nothing from this one on needs: earlier ones, and notes of backups that began in them. */
export function chooseOutdatedWal(names: readonly string[], oldest: string): string[] {
  // Histories of timelines are few, small and needed by all.
  return names.filter(
    (name) =>
      /^[0-9A-F]{24}(?:\.[0-9A-F]{8}\.backup|\.partial)?$/.test(name) && name.slice(8, 24) < oldest.slice(8),
  );
}

/** A physical backup as the choice of what to keep sees it. */
export interface DatedBase {
  /** The first moment that can be restored with it, in Unix seconds. */
  finished_at: number;
}

/** No physical backup takes longer, in seconds: an encrypted one does not tell when it was finished. */
export const longestBaseSeconds = daySeconds;

/**
 * Chooses which physical backups go, with any moment of the last seconds to stay within reach: all before the last one that was
 * finished by then.
 */
export function chooseOutdatedBases<Base extends DatedBase>(bases: readonly Base[], since: number): Base[] {
  const newestFirst = bases.toSorted((one, other) => other.finished_at - one.finished_at);
  const first = newestFirst.findIndex(({ finished_at }) => finished_at <= since);
  return first === -1 ? [] : newestFirst.slice(first + 1);
}

/** Where in the log a physical backup begins and ends. */
export interface BaseInLog {
  timeline: number;
  start_lsn: string;
  end_lsn: string;
}

/** Says whether the files of a log lead from one physical backup to the end of a later one, so that the earlier one does for both. */
export function coversBase(names: readonly string[], earlier: BaseInLog, later: BaseInLog): boolean {
  const { last } = followSegments(names, segmentOf(earlier.timeline, earlier.start_lsn));
  return (
    earlier.timeline === later.timeline &&
    last !== undefined &&
    last >= segmentOf(later.timeline, later.end_lsn)
  );
}

/** A moment that is to be restored: Unix seconds, and as PostgreSQL reads it. */
export interface Moment {
  seconds: number;
  text: string;
}

/** Reads a moment in ISO 8601 with an offset from UTC, such as `2026-11-23T14:05:00+01:00`; undefined for anything else. */
export function parseMoment(text: string): Moment | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const seconds = Date.parse(text) / 1000;
  // Settings of PostgreSQL know no zones by name.
  return Number.isNaN(seconds) ? undefined : { seconds, text: text.replace("Z", "+00:00") };
}
