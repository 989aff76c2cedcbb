import { mebibyte } from "../lib/units.ts";

/** How something stands, from best to worst: as it should; somebody should look; something does not work. */
export const healthStatuses = ["ok", "degraded", "failing"] as const;
export type HealthStatus = (typeof healthStatuses)[number];

/** What a check found, with a sentence for people: no secrets, no values of rows. */
export interface Finding {
  status: HealthStatus;
  detail: string;
}

/** A check with what it found, and since when (Unix seconds) this server has found the same status. */
interface CheckedHealth extends Finding {
  name: string;
  since: number;
}

/** How an instance stands: as its worst check does. */
export interface HealthReport {
  status: HealthStatus;
  /** Of the program. */
  version: string;
  checks: CheckedHealth[];
}

/** Finds the worst of several statuses; `ok` of none. */
export function worstStatus(statuses: readonly HealthStatus[]): HealthStatus {
  const worst = Math.max(0, ...statuses.map((status) => healthStatuses.indexOf(status)));
  return healthStatuses[worst] ?? "failing";
}

const slowAnswerMs = 250;

/** Judges how long the database took to answer the shortest question, in milliseconds. */
export function judgeLatency(ms: number): Finding {
  const detail = `answers in ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  return { status: ms > slowAnswerMs ? "degraded" : "ok", detail };
}

const oldestVersion = 150_000;

/** Judges a PostgreSQL by its version, as a text and as a number (`server_version_num`). */
export function judgeDatabaseVersion(version: string, number: number): Finding {
  return number >= oldestVersion
    ? { status: "ok", detail: `PostgreSQL ${version}` }
    : { status: "failing", detail: `PostgreSQL ${version}: 15 is the oldest that works` };
}

/** How far behind a replica may be before somebody should look at it: bytes of the log. */
export const largeLag = 64 * mebibyte;

/** Writes a number of bytes in the largest unit of which there is one, to a place after the point: `1.5 GiB`. */
export function bytesInWords(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const count = bytes / 1024 ** power;
  return `${power === 0 ? count : count.toFixed(1)} ${units[power]}`;
}

/** Judges a replica by how it stands to what was committed, and by how many bytes of the log it has to replay. */
export function judgeReplica(state: "current" | "behind" | "away", lag: number | undefined): Finding {
  if (state === "away") return { status: "degraded", detail: "does not answer: all reads go to the primary" };
  const behind = lag === undefined || lag === 0 ? "has replayed all" : `is ${bytesInWords(lag)} behind`;
  return { status: (lag ?? 0) > largeLag ? "degraded" : "ok", detail: behind };
}

/** Lists the migrations that a database does not have. @param known those of this program. */
export function pendingMigrations(known: readonly string[], applied: readonly string[]): string[] {
  const done = new Set(applied);
  return known.filter((name) => !done.has(name));
}

/** Judges which migrations a database has. @param known those of this program. */
export function judgeMigrations(known: readonly string[], applied: readonly string[]): Finding {
  const own = new Set(known);
  const pending = pendingMigrations(known, applied);
  const newer = applied.filter((name) => !own.has(name));
  if (pending.length > 0)
    return { status: "failing", detail: `${pending.length} not applied, the first is ${pending[0]}` };
  if (newer.length > 0)
    return {
      status: "degraded",
      detail: `a newer version wrote the database: it has ${newer[0]}. Replace this server's program`,
    };
  return { status: "ok", detail: `all ${applied.length} applied` };
}

/** Connections of a pool: how many there may be, how many somebody has, how many callers wait for one. */
export interface PoolUse {
  max: number;
  used: number;
  waiting: number;
}

/** Judges a pool of connections. A few callers that wait are no harm: each has a connection for milliseconds. */
export function judgePool({ max, used, waiting }: PoolUse): Finding {
  const detail = `${used} of ${max} connections in use, ${waiting === 0 ? "nobody waits" : `${waiting} wait`}`;
  return { status: waiting > max ? "degraded" : "ok", detail };
}

const waitingDeliveries = 100;

/** Judges how many deliveries of notifications wait for their first or next attempt. */
export function judgeDeliveries(waiting: number): Finding {
  const status = waiting > waitingDeliveries ? "degraded" : "ok";
  return { status, detail: waiting === 0 ? "none waits" : `${waiting} wait to be sent` };
}

/** Background jobs by what is wrong with them. */
export interface JobTrouble {
  /** Handed out no more, because servers ended while they ran. */
  set_aside: number;
  /** Failed for good. */
  failed: number;
  /** Due for ten minutes and not begun. */
  overdue: number;
}

/** Judges background jobs by those that are not done. */
export function judgeJobs({ set_aside, failed, overdue }: JobTrouble): Finding {
  const troubles = [
    set_aside > 0 ? `${set_aside} set aside` : undefined,
    failed > 0 ? `${failed} failed for good` : undefined,
    overdue > 0 ? `${overdue} due for ten minutes and not begun` : undefined,
  ].filter((trouble) => trouble !== undefined);
  return troubles.length === 0
    ? { status: "ok", detail: "none set aside, failed or overdue" }
    : { status: "degraded", detail: `${troubles.join(", ")}: see \`waybill admin jobs list\`` };
}

/** Shares of a disk that are free, below which somebody should look, and writes will fail soon. */
const freeShares = { degraded: 0.15, failing: 0.02 } as const;

/** Judges a disk by what is free of it, in bytes. */
export function judgeDisk(free: number, size: number): Finding {
  const share = size === 0 ? 0 : free / size;
  const detail = `${bytesInWords(free)} of ${bytesInWords(size)} free (${Math.floor(share * 100)} %)`;
  if (share < freeShares.failing) return { status: "failing", detail };
  return { status: share < freeShares.degraded ? "degraded" : "ok", detail };
}

/** Days within which it is counted how many keys will have ended. */
export const keyExpiryDays = [1, 7, 30] as const;

const clockTolerance = 2;

/** Judges how far this machine's clock is ahead of the database's, in seconds; behind when it is less than 0. */
export function judgeClock(ahead: number, refusal: string | undefined): Finding {
  if (refusal !== undefined) return { status: "failing", detail: refusal };
  const apart = Math.abs(ahead);
  if (apart <= clockTolerance) return { status: "ok", detail: "agrees with the database's" };
  const way = ahead > 0 ? "ahead of" : "behind";
  return { status: "degraded", detail: `${apart.toFixed(1)} s ${way} the database's` };
}

/** Judges whether the key at hand is the one that the secrets of a database were sealed with. */
export function judgeSecretKey(noted: string | undefined, own: string): Finding {
  return noted === own
    ? { status: "ok", detail: "fits the secrets of the database" }
    : {
        status: "failing",
        detail: "another key sealed the secrets of the database: set WAYBILL_SECRET_KEY to it",
      };
}

/** Judges whether a database is a restored copy that is to tell nobody anything. @param copy says of what. */
export function judgeQuarantine(copy: string | undefined): Finding {
  return copy === undefined
    ? { status: "ok", detail: "none" }
    : {
        status: "degraded",
        detail: `quarantined, as a copy of ${copy}: nobody is notified until \`waybill admin release-quarantine\``,
      };
}

/**
 * Judges backups by their age, in seconds; undefined when none is known. Where none are made by the clock, none are missed.
 * @param isScheduled whether the server makes them. @param isOverdue whether one was due since the last, and was not made.
 */
export function judgeBackups(age: number | undefined, isScheduled: boolean, isOverdue: boolean): Finding {
  if (age === undefined)
    return isScheduled
      ? { status: "degraded", detail: "none was made yet" }
      : { status: "ok", detail: "the server makes none by itself" };
  const hours = Math.floor(age / 3600);
  const old = hours < 1 ? "the last one is less than an hour old" : `the last one is ${hours} h old`;
  return isScheduled && isOverdue
    ? { status: "degraded", detail: `${old}, and another one was due: see \`waybill admin jobs list\`` }
    : { status: "ok", detail: old };
}
