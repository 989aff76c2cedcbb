import { groupBy } from "../lib/group.ts";
import { daySeconds } from "../lib/units.ts";

/** What of the backups in a folder is kept: the last of each of so many days, weeks and months that have one. */
export interface KeepRule {
  days: number;
  weeks: number;
  months: number;
}

const units = { d: "days", w: "weeks", m: "months" } as const;

/** Reads a rule such as `7d,4w,12m`, each unit at most once; undefined for anything else. */
export function parseKeep(text: string): KeepRule | undefined {
  const rule: KeepRule = { days: 0, weeks: 0, months: 0 };
  const seen = new Set<string>();
  for (const part of text.split(",")) {
    const [, count, unit] = /^(\d{1,4})([dwm])$/.exec(part.trim()) ?? [];
    if (count === undefined || unit === undefined || seen.has(unit)) return undefined;
    seen.add(unit);
    rule[units[unit as keyof typeof units]] = Number(count);
  }
  return rule.days + rule.weeks + rule.months > 0 ? rule : undefined;
}

/** Rows take this part of a database in a backup at most: they are packed, and indexes are left out. */
export const backupPart = 0.25;

/** What a backup that does not rest gets through in a second, in bytes of tables; more on most machines. */
const bytesEachSecond = 50_000_000;
/** In what time a backup by the clock is to be done, even if others notice it then. */
const wantedSeconds = 4 * 3600;
const leastShare = 0.25;

/**
 * Says for how much of the time a backup by the clock works: a quarter, or what it needs to be done in four hours.
 * @param bytes of the tables.
 * @returns at most 1.
 */
export function shareOfTime(bytes: number): number {
  return Math.min(1, Math.max(leastShare, bytes / bytesEachSecond / wantedSeconds));
}

/** A backup as the choice of what to keep sees it. */
export interface DatedBackup {
  id: string;
  /** Unix seconds. */
  made_at: number;
  /** Ids of the backups that hold evidence of this one. */
  needs: readonly string[];
  /** Whether it is of rows alone, as before migrations: files of evidence cannot be restored from it. Undefined where that is not known. */
  rows_only: boolean | undefined;
}

/** 1970-01-01 was a Thursday; weeks begin on Mondays. */
const daysBeforeMonday = 3;

const periods: Readonly<Record<keyof KeepRule, (seconds: number) => number>> = {
  days: (seconds) => Math.floor(seconds / daySeconds),
  weeks: (seconds) => Math.floor((seconds / daySeconds + daysBeforeMonday) / 7),
  months: (seconds) => {
    const date = new Date(seconds * 1000);
    return date.getUTCFullYear() * 12 + date.getUTCMonth();
  },
};

/**
 * Finds what fills a period: the last backup of it with files of evidence, or the last one where none has. Where it is not known of any that it has files, those of
 * the last day that may have some.
 */
function fillPeriod(newestFirst: readonly DatedBackup[]): DatedBackup[] {
  const whole = newestFirst.find(({ rows_only }) => rows_only === false);
  if (whole !== undefined) return [whole];
  const unsure = newestFirst.filter(({ rows_only }) => rows_only === undefined);
  const [last = newestFirst[0]] = unsure;
  if (last === undefined) return [];
  const lastDay = periods.days(last.made_at);
  return [last, ...unsure.filter(({ made_at }) => periods.days(made_at) === lastDay)];
}

/** Says whether a backup may be the last one with files of evidence: it is not known whether it has some, and of none that it has. */
export function isUnsurelyLast({ rows_only }: DatedBackup, backups: readonly DatedBackup[]): boolean {
  return rows_only === undefined && !backups.some((each) => each.rows_only === false);
}

/**
 * Chooses which backups go: all that no part of the rule asks for, but never the newest, nor the newest that has, or may have, files of evidence, and none whose
 * evidence one that stays refers to. Days, weeks and months are those of UTC. Of a day the last backup of rows alone stays, too: before an upgrade it
 * is the way back.
 */
export function chooseOutdated(backups: readonly DatedBackup[], rule: KeepRule): DatedBackup[] {
  const newestFirst = backups.toSorted((one, other) => other.made_at - one.made_at);
  const maybeWhole = newestFirst.find(({ rows_only }) => rows_only !== true);
  const kept = new Set([newestFirst[0], maybeWhole, ...fillPeriod(newestFirst)]);
  for (const [unit, periodOf] of Object.entries(periods) as [keyof KeepRule, (at: number) => number][]) {
    const ofPeriods = [...groupBy(newestFirst, ({ made_at }) => periodOf(made_at)).values()];
    for (const ofPeriod of ofPeriods.slice(0, rule[unit])) {
      for (const each of fillPeriod(ofPeriod)) kept.add(each);
      if (unit === "days") kept.add(ofPeriod[0]);
    }
  }
  const needed = new Set([...kept].flatMap((each) => each?.needs ?? []));
  return backups.filter((each) => !kept.has(each) && !needed.has(each.id));
}

/** Names the file of a backup: when it was made, to the second in UTC, and the beginning of its id. */
export function backupName(made_at: number, id: string): string {
  const stamp = new Date(made_at * 1000).toISOString().replaceAll(/[-:]/g, "").replace(/\.\d+/, "");
  return `waybill-${stamp}-${id.slice(0, 8)}.tar`;
}

/** Names of files that `backupName` gives, and those of encrypted ones. */
export const backupNamePattern = /^waybill-\d{8}T\d{6}Z-[0-9a-f]{8}\.tar(?:\.age)?$/;

/** What the names of encrypted backups end with. */
export const encryptedSuffix = ".age";

/** Reads what the name of a backup says: when it was made, in Unix seconds, and the beginning of its id. */
export function parseBackupName(name: string): { made_at: number; id: string } | undefined {
  const parts = /^waybill-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-([0-9a-f]{8})\.tar/.exec(name);
  if (parts === null || !backupNamePattern.test(name)) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  return { made_at: Date.UTC(year, month - 1, day, hour, minute, second) / 1000, id: parts[7] ?? "" };
}
