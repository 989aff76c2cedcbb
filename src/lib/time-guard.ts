import { uptime } from "node:os";

import { type Clock, systemClock, type Timestamp } from "./clock.ts";
import type { Logger } from "./log.ts";
import { present } from "./present.ts";
import { describeSpan, type Doubt, explainDoubt, refuses } from "./time-doubt.ts";
import { daySeconds } from "./units.ts";

/** The clocks that a guard reads. */
export interface TimeSources {
  /** Reads the machine's clock, which anybody may set. */
  wall(): Timestamp;
  /**
   * Reads seconds since some moment, however the machine's clock is set. May stand still while the machine is
   * suspended.
   */
  monotonic(): number;
  /** Reads seconds since some moment, suspensions included where the machine knows them. */
  uptime(): number;
}

/** The clocks of this machine. */
export const machineTime: TimeSources = {
  wall: () => systemClock.now(),
  monotonic: () => performance.now() / 1000,
  uptime,
};

/** What the database knows of the time. */
interface TimeRecord {
  /** The database's own clock. */
  database: Timestamp;
  /** The latest time that any server took for right, or that a record has; null when there is none. */
  recorded: Timestamp | null;
  /** Milliseconds that new ids are ahead of the time, so that they come after ids made while the clock was ahead. */
  id_offset: number;
}

/** The statements that a guard needs of the database. */
export interface TimeRecords {
  /** Reads the record; stores `wall` as a right time when it is given. One statement. */
  exchange(wall: Timestamp | undefined): Promise<TimeRecord>;
  /** Raises how far ids are ahead of the time to at least this many milliseconds. */
  raiseIdOffset(milliseconds: number): Promise<void>;
}

/** A clock that goes as the database's does, and notices when the machine's is wrong. */
export interface TimeGuard extends Clock {
  /**
   * Gives the machine's time, to the microsecond, less what it is ahead of the database's: servers of one database have
   * one time. While the machine's is in doubt, the last right time plus what has passed since.
   */
  now(): Timestamp;
  /**
   * Says why nothing may be recorded now, as a sentence for callers; undefined when the time is right. Asks the
   * database if the clock has just moved.
   */
  refusal(): Promise<string | undefined>;
  /** What `refusal` answered last, or would have. */
  readonly refused: string | undefined;
  /** Gives the time that new ids are made from, in milliseconds. */
  idMilliseconds(): number;
  /** Registers a listener for when recording is refused or allowed again, or the machine's clock was set meanwhile. */
  onChange(listener: () => void): void;
  /** Compares with the database's clock, now and regularly from then on. */
  start(): Promise<void>;
  stop(): void;
}

/** Makes a guard that trusts its clock: for tests that move it. */
export function trustedTime(clock: Clock): TimeGuard {
  return {
    now: () => clock.now(),
    refusal: async () => undefined,
    refused: undefined,
    idMilliseconds: Date.now,
    onChange: () => {},
    start: async () => {},
    stop: () => {},
  };
}

/** Seconds that clocks may be apart, and that one may jump without being doubted. */
export const tolerance = 300;
/**
 * Seconds that a server may have been away, or a machine suspended, without an operator's confirmation: three months.
 */
export const longestPause = 92 * daySeconds;
/** Seconds that a new time has to hold before it is accepted as the time after a pause. */
export const settleSeconds = 120;
/** Seconds that records may be ahead before recording is refused: as far apart as the clocks of two time zones. */
const longestSetBack = 26 * 3600;
/** The share of the time passed by which a right time may drift: far more than any clock does. */
const drift = 0.01;

const sampleEveryMs = 15_000;
const lookEveryMs = 1_000;
/** Seconds between two looks by which a clock that goes as clocks do is not set. */
const unnoticed = 0.01;
/** Seconds within which the database answers a comparison that is close enough to begin with, and how often it is asked. */
const close = { seconds: 0.005, attempts: 3 };
/** Seconds between the clocks of server and database that the log tells. */
const told = 1;

/** Creates a guard; `start` it before relying on it. */
export function createTimeGuard(options: {
  sources?: TimeSources;
  records: TimeRecords;
  log: Logger;
}): TimeGuard {
  return new Guard(options.sources ?? machineTime, options.records, options.log);
}

class Guard implements TimeGuard {
  readonly #sources: TimeSources;
  readonly #records: TimeRecords;
  readonly #log: Logger;
  readonly #listeners: (() => void)[] = [];
  /** Whether listeners are told at the end of the comparison. */
  #isToTell = false;
  /** The right time less the monotonic clock, by the times found right so far; undefined until there was one. */
  #trustedOffset: number | undefined;
  /** The same by the best that is known, until a time was found right. */
  #assumedOffset: number | undefined;
  #doubt: Doubt | undefined;
  /** Monotonic time and uptime when the database last confirmed the time. */
  #confirmed = { monotonic: 0, uptime: 0 };
  /**
   * The jump under suspicion: when it was seen, by the monotonic clock, and the machine's clock less the monotonic one
   * since.
   */
  #jump: { since: number; offset: number } | undefined;
  #idOffset = 0;
  /**
   * Seconds that the machine's clock is ahead of the database's, by all comparisons so far; that the line of right times
   * was at the last of them; and that the log was told.
   */
  #apart = { seconds: 0, line: 0, told: 0 };
  /** The machine's clock less the monotonic one, at the last look. */
  #seenOffset: number | undefined;
  #sampling: Promise<number> | undefined;
  #timers: NodeJS.Timeout[] = [];

  constructor(sources: TimeSources, records: TimeRecords, log: Logger) {
    this.#sources = sources;
    this.#records = records;
    this.#log = log;
  }

  /** Computes how many seconds the machine's clock is ahead of the right time, as far as that is known. */
  #ahead(wall: number, monotonic: number): number {
    const offset = this.#trustedOffset ?? this.#assumedOffset;
    return offset === undefined ? 0 : wall - (offset + monotonic);
  }

  now(): Timestamp {
    const wall = this.#sources.wall();
    const ahead = this.#ahead(wall, this.#sources.monotonic());
    const isDoubted = ahead > tolerance || (this.#isAhead() && ahead > 0);
    const less = isDoubted ? ahead + this.#apart.line : this.#apart.seconds;
    return less === 0 ? wall : Math.round((wall - less) * 1_000_000) / 1_000_000;
  }

  idMilliseconds(): number {
    return Math.floor(this.now() * 1000) + this.#idOffset;
  }

  get refused(): string | undefined {
    return this.#doubt !== undefined && refuses(this.#doubt) ? explainDoubt(this.#doubt).caller : undefined;
  }

  async refusal(): Promise<string | undefined> {
    if (this.#isNews()) await this.#sample();
    return this.refused;
  }

  /** Says whether the clock contradicts what the last comparison with the database found. */
  #isNews(): boolean {
    const jumped = this.#ahead(this.#sources.wall(), this.#sources.monotonic()) > tolerance;
    return jumped !== this.#isAhead();
  }

  /** Says whether the clock was found to be ahead. */
  #isAhead(): boolean {
    return this.#doubt !== undefined && this.#doubt.kind !== "records_ahead";
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #tell(): void {
    if (!this.#isToTell) return;
    this.#isToTell = false;
    for (const listener of this.#listeners) listener();
  }

  async start(): Promise<void> {
    for (let asked = 0; asked < close.attempts; asked += 1)
      if ((await this.#sample()) <= close.seconds) break;
    const every = (milliseconds: number, work: () => void): void => {
      const timer = setInterval(work, milliseconds);
      timer.unref();
      this.#timers.push(timer);
    };
    every(sampleEveryMs, () => void this.#sample());
    every(lookEveryMs, () => this.#look());
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  /** Notices between two looks at the database that the clock was set. */
  #look(): void {
    const offset = this.#sources.wall() - this.#sources.monotonic();
    const moved = this.#seenOffset === undefined ? 0 : offset - this.#seenOffset;
    this.#seenOffset = offset;
    if (!this.#isNews() && Math.abs(moved) > 30) {
      this.#log.warn({ seconds: Math.round(moved) }, "the machine's clock was set");
      // Timers wait for moments that come at another time now.
      this.#isToTell = true;
    }
    if (this.#isNews() || Math.abs(moved) > unnoticed) void this.#sample();
  }

  /**
   * Compares with the database's clock, once at a time. Without an answer everything stays as it is.
   *
   * @returns how many seconds the answer took; none came after 0.
   */
  #sample(): Promise<number> {
    this.#sampling ??= this.#compare().finally(() => {
      this.#sampling = undefined;
      this.#tell();
    });
    return this.#sampling;
  }

  async #compare(): Promise<number> {
    const wall = this.#sources.wall();
    const monotonic = this.#sources.monotonic();
    const isRight = this.#trustedOffset !== undefined && this.#doubt === undefined;
    const keep = isRight && this.#ahead(wall, monotonic) <= tolerance;
    try {
      const record = await this.#records.exchange(keep ? wall - this.#apart.seconds : undefined);
      // The longer of two clocks: one may have been set meanwhile, or stood still.
      const waited = Math.max(this.#sources.monotonic() - monotonic, this.#sources.wall() - wall);
      this.#idOffset = Math.max(this.#idOffset, record.id_offset);
      const doubt = this.#judge(wall, monotonic, record);
      if (doubt?.kind === "records_ahead") await this.#keepIdsInOrder(doubt.by);
      if (doubt === undefined || doubt.kind === "records_ahead")
        this.#align({ wall, monotonic, waited }, record.database);
      this.#conclude(doubt);
      return waited;
    } catch (err) {
      this.#log.debug({ err }, "the database's clock could not be read");
      return 0;
    }
  }

  /**
   * Goes by the database's clock, which was read at some moment while it was waited for: that says how far the machine's
   * is ahead of it at the least and at the most. What was measured before is kept within that, so that slow answers, and
   * all those of a database on the same machine, change nothing. A database too far ahead is not followed.
   */
  #align(asked: { wall: number; monotonic: number; waited: number }, database: Timestamp): void {
    const least = asked.wall - database;
    const nearest = Math.min(Math.max(this.#apart.seconds, least), least + asked.waited);
    this.#apart.seconds = Math.abs(nearest) > tolerance ? 0 : nearest;
    this.#apart.line = this.#apart.seconds - this.#ahead(asked.wall, asked.monotonic);
    if (Math.abs(this.#apart.seconds - this.#apart.told) < told) return;
    this.#apart.told = this.#apart.seconds;
    this.#log.warn(
      { seconds: Math.round(this.#apart.seconds * 10) / 10 },
      "the machine's clock is ahead of the database's by some seconds, behind it if less than 0: times are by the database's",
    );
  }

  async #keepIdsInOrder(by: number): Promise<void> {
    const wanted = Math.ceil(by * 1000) + 60_000;
    if (wanted - 60_000 <= this.#idOffset) return;
    await this.#records.raiseIdOffset(wanted);
    this.#idOffset = wanted;
  }

  #conclude(doubt: Doubt | undefined): void {
    const before = this.#doubt;
    this.#doubt = doubt;
    const isSame = before?.kind === doubt?.kind && (before && refuses(before)) === (doubt && refuses(doubt));
    if (isSame) return;
    if (doubt === undefined) this.#log.info("the time is right again");
    else this.#log.error({ seconds: Math.round(doubt.by) }, explainDoubt(doubt).operator);
    this.#isToTell = true;
  }

  #judge(wall: number, monotonic: number, record: TimeRecord): Doubt | undefined {
    const aheadOfDatabase = wall - record.database;
    if (aheadOfDatabase > tolerance) {
      this.#assumedOffset = record.database - monotonic;
      return { kind: "ahead_of_database", by: aheadOfDatabase };
    }
    const doubt =
      this.#trustedOffset === undefined
        ? this.#judgeStart(wall, monotonic, record)
        : this.#judgeMove(wall, monotonic, record);
    if (doubt !== undefined) return doubt;
    this.#follow(wall, monotonic);
    const right = wall - this.#apart.seconds;
    const recordsAhead = (record.recorded ?? right) - right;
    return recordsAhead > tolerance
      ? { kind: "records_ahead", by: recordsAhead, tooFar: recordsAhead > longestSetBack }
      : undefined;
  }

  /** Judges the first time that is seen. */
  #judgeStart(wall: number, monotonic: number, { recorded }: TimeRecord): Doubt | undefined {
    const away = recorded === null ? 0 : wall - recorded;
    if (recorded !== null && away > longestPause) {
      this.#assumedOffset = recorded - monotonic;
      return { kind: "away", by: away };
    }
    this.#trustedOffset = wall - monotonic;
    this.#confirmed = { monotonic, uptime: this.#sources.uptime() };
    return undefined;
  }

  /** Judges whether the clock moved as time does, or the database confirms where it is now. */
  #judgeMove(wall: number, monotonic: number, { recorded }: TimeRecord): Doubt | undefined {
    this.#addSuspension(wall, monotonic);
    const by = this.#ahead(wall, monotonic);
    if (by <= tolerance) return undefined;
    // Another server took it for right, or an operator did; not this one, of a time before.
    const isConfirmed =
      recorded !== null && Math.abs(wall - recorded) <= tolerance && wall - by + tolerance < recorded;
    if (isConfirmed || this.#hasHeld(wall, monotonic, by)) {
      this.#log.warn({ seconds: Math.round(by) }, `the clock went on by ${describeSpan(by)} at once`);
      this.#trustedOffset = wall - monotonic;
      return undefined;
    }
    return { kind: "jumped", by, settles: by <= longestPause };
  }

  /** Counts time for which the machine was suspended as passed. */
  #addSuspension(wall: number, monotonic: number): void {
    if (this.#ahead(wall, monotonic) <= tolerance) return;
    const passed = monotonic - this.#confirmed.monotonic;
    const suspended = this.#sources.uptime() - this.#confirmed.uptime - passed;
    if (suspended <= tolerance) return;
    this.#moveLine(Math.min(suspended, this.#ahead(wall, monotonic)));
    this.#confirmed = { monotonic, uptime: this.#sources.uptime() };
  }

  /** Says whether a jump that may be a pause has held for long enough. */
  #hasHeld(wall: number, monotonic: number, by: number): boolean {
    const offset = wall - monotonic;
    if (this.#jump === undefined || Math.abs(offset - this.#jump.offset) > 30)
      this.#jump = { since: monotonic, offset };
    return by <= longestPause && monotonic - this.#jump.since >= settleSeconds;
  }

  #moveLine(by: number): void {
    this.#trustedOffset = present(this.#trustedOffset, "the offset only moves once a time was right") + by;
  }

  /** Lets the right time follow a clock that drifts, never one that jumps. */
  #follow(wall: number, monotonic: number): void {
    const most = drift * Math.max(0, monotonic - this.#confirmed.monotonic);
    this.#moveLine(Math.max(-most, Math.min(most, this.#ahead(wall, monotonic))));
    this.#confirmed = { monotonic, uptime: this.#sources.uptime() };
    this.#jump = undefined;
  }
}
