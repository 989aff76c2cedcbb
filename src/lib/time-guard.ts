import { uptime } from "node:os";

import { type Clock, systemClock, type Timestamp } from "./clock.ts";
import type { Logger } from "./log.ts";
import { describeSpan, type Doubt, explainDoubt, refuses } from "./time-doubt.ts";

/** Where a guard reads the time. */
export interface TimeSources {
  /** The machine's clock, which anybody may set. */
  wall(): Timestamp;
  /** Seconds since some moment, whatever the machine's clock does; need not count while the machine is suspended. */
  monotonic(): number;
  /** Seconds since some moment, counted while the machine is suspended, too, where it knows. */
  uptime(): number;
}

/** The time of this machine. */
export const machineTime: TimeSources = {
  wall: () => systemClock.now(),
  monotonic: () => performance.now() / 1000,
  uptime,
};

/** What the database says of the time. */
export interface TimeRecord {
  /** Its own clock. */
  database: Timestamp;
  /** The latest time that any server took for right, or that records were found to have; null when there is none. */
  recorded: Timestamp | null;
  /** Milliseconds that new ids are ahead of the time, so that they come after those that were made under a wrong one. */
  id_offset: number;
}

/** What a guard asks of the database. */
export interface TimeRecords {
  /** Reads what there is; keeps `wall` as a time that was right when it is given. One statement. */
  exchange(wall: Timestamp | undefined): Promise<TimeRecord>;
  /** Lets ids be ahead of the time by so many milliseconds, at least. */
  raiseIdOffset(milliseconds: number): Promise<void>;
}

/** A clock that gives no wrong time, and knows when its machine's is wrong. */
export interface TimeGuard extends Clock {
  /**
   * The machine's time, to the microsecond. While that is in doubt: the last one that was right and what has passed since.
   * Never fails.
   */
  now(): Timestamp;
  /** Why nothing may be recorded now, as a sentence for callers; undefined when the time is right. */
  refusal(): Promise<string | undefined>;
  /** The same as it was known last. */
  readonly refused: string | undefined;
  /** What new ids are made of, in milliseconds. */
  idMilliseconds(): number;
  /** Called when recording is refused, is allowed again, or the machine's clock was set while it went on. */
  onChange(listener: () => void): void;
  /** Looks at the database's clock for the first time, and from then on every now and then. */
  start(): Promise<void>;
  stop(): void;
}

/** A clock that nobody doubts: for tests that move it. */
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

/** Seconds that clocks may be apart, and that one may move by without being asked why. */
export const tolerance = 300;
/** Seconds that a server may have been away, or a machine suspended, without an operator who says so: a quarter. */
export const longestPause = 92 * 86_400;
/** Seconds that a new time has to hold before it is taken for that after a pause. */
export const settleSeconds = 120;
/** Seconds that records may be ahead with times that follow them: so far clocks of two time zones are apart. */
export const longestSetBack = 26 * 3600;
/** What the line of right times follows the clock by, at most: far more than any clock drifts. */
const drift = 0.01;

const sampleEveryMs = 15_000;
const lookEveryMs = 1_000;

/** Builds a guard; `start` it before it is relied on. */
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
  /** The right time when the monotonic clock was zero, by the times that were right until now; none until one was. */
  #line: number | undefined;
  /** The same by the best that is known, until a time was right. */
  #guess: number | undefined;
  #doubt: Doubt | undefined;
  /** Monotonic time and uptime of the last look at the database that found the time right. */
  #confirmed = { monotonic: 0, uptime: 0 };
  /** Since when a jump holds, by the monotonic clock, and where the clock was set to. */
  #jump: { since: number; offset: number } | undefined;
  #idOffset = 0;
  /** How far the machine's clock was from the monotonic one at the last look. */
  #offset: number | undefined;
  #sampling: Promise<void> | undefined;
  #timers: NodeJS.Timeout[] = [];

  constructor(sources: TimeSources, records: TimeRecords, log: Logger) {
    this.#sources = sources;
    this.#records = records;
    this.#log = log;
  }

  /** Seconds that the machine's clock is ahead of the line of right times. */
  #ahead(wall: number, monotonic: number): number {
    const line = this.#line ?? this.#guess;
    return line === undefined ? 0 : wall - (line + monotonic);
  }

  now(): Timestamp {
    const wall = this.#sources.wall();
    const ahead = this.#ahead(wall, this.#sources.monotonic());
    const isDoubted = ahead > tolerance || (this.#isAhead() && ahead > 0);
    return isDoubted ? Math.round((wall - ahead) * 1_000_000) / 1_000_000 : wall;
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

  /** Whether the clock says something else than what the last look at the database came to. */
  #isNews(): boolean {
    const jumped = this.#ahead(this.#sources.wall(), this.#sources.monotonic()) > tolerance;
    return jumped !== this.#isAhead();
  }

  /** Whether the clock was found to be ahead. */
  #isAhead(): boolean {
    return this.#doubt !== undefined && this.#doubt.kind !== "records_ahead";
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  async start(): Promise<void> {
    await this.#sample();
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
    const moved = this.#offset === undefined ? 0 : offset - this.#offset;
    this.#offset = offset;
    if (this.#isNews()) void this.#sample();
    else if (Math.abs(moved) > 30) {
      this.#log.warn({ seconds: Math.round(moved) }, "the machine's clock was set");
      // Timers wait for moments that come at another time now.
      this.#tell();
    }
  }

  /** Looks at the database's clock. Without an answer everything stays as it is. */
  #sample(): Promise<void> {
    this.#sampling ??= this.#compare().finally(() => {
      this.#sampling = undefined;
    });
    return this.#sampling;
  }

  async #compare(): Promise<void> {
    const wall = this.#sources.wall();
    const monotonic = this.#sources.monotonic();
    const isRight = this.#line !== undefined && this.#doubt === undefined;
    const keep = isRight && this.#ahead(wall, monotonic) <= tolerance;
    try {
      const record = await this.#records.exchange(keep ? wall : undefined);
      this.#idOffset = Math.max(this.#idOffset, record.id_offset);
      const doubt = this.#judge(wall, monotonic, record);
      if (doubt?.kind === "records_ahead") await this.#keepIdsInOrder(doubt.by);
      this.#conclude(doubt);
    } catch (err) {
      this.#log.debug({ err }, "the database's clock could not be read");
    }
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
    if (before?.kind === doubt?.kind && (doubt === undefined || refuses(before!) === refuses(doubt))) return;
    if (doubt === undefined) this.#log.info("the time is right again");
    else this.#log.error({ seconds: Math.round(doubt.by) }, explainDoubt(doubt).operator);
    this.#tell();
  }

  #judge(wall: number, monotonic: number, record: TimeRecord): Doubt | undefined {
    const aheadOfDatabase = wall - record.database;
    if (aheadOfDatabase > tolerance) {
      this.#guess = record.database - monotonic;
      return { kind: "ahead_of_database", by: aheadOfDatabase };
    }
    const doubt =
      this.#line === undefined
        ? this.#judgeStart(wall, monotonic, record)
        : this.#judgeMove(wall, monotonic, record);
    if (doubt !== undefined) return doubt;
    this.#follow(wall, monotonic);
    const recordsAhead = (record.recorded ?? wall) - wall;
    return recordsAhead > tolerance
      ? { kind: "records_ahead", by: recordsAhead, tooFar: recordsAhead > longestSetBack }
      : undefined;
  }

  /** Whether the first time that is seen may be right. */
  #judgeStart(wall: number, monotonic: number, { recorded }: TimeRecord): Doubt | undefined {
    const away = recorded === null ? 0 : wall - recorded;
    if (away > longestPause) {
      this.#guess = recorded! - monotonic;
      return { kind: "away", by: away };
    }
    this.#line = wall - monotonic;
    this.#confirmed = { monotonic, uptime: this.#sources.uptime() };
    return undefined;
  }

  /** Whether the clock moved as time does, or the database confirms that it is right. */
  #judgeMove(wall: number, monotonic: number, { recorded }: TimeRecord): Doubt | undefined {
    this.#addSuspension(wall, monotonic);
    const by = this.#ahead(wall, monotonic);
    if (by <= tolerance) return undefined;
    // Another server took it for right, or an operator did; not this one, of a time before.
    const isConfirmed =
      recorded !== null && Math.abs(wall - recorded) <= tolerance && wall - by + tolerance < recorded;
    if (isConfirmed || this.#hasHeld(wall, monotonic, by)) {
      this.#log.warn({ seconds: Math.round(by) }, `the clock went on by ${describeSpan(by)} at once`);
      this.#line = wall - monotonic;
      return undefined;
    }
    return { kind: "jumped", by, settles: by <= longestPause };
  }

  /** Adds the time that the machine was suspended, which it knows of itself. */
  #addSuspension(wall: number, monotonic: number): void {
    if (this.#ahead(wall, monotonic) <= tolerance) return;
    const passed = monotonic - this.#confirmed.monotonic;
    const suspended = this.#sources.uptime() - this.#confirmed.uptime - passed;
    if (suspended <= tolerance) return;
    this.#line! += Math.min(suspended, this.#ahead(wall, monotonic));
    this.#confirmed = { monotonic, uptime: this.#sources.uptime() };
  }

  /** Whether a pause that nobody saw is over for long enough. */
  #hasHeld(wall: number, monotonic: number, by: number): boolean {
    const offset = wall - monotonic;
    if (this.#jump === undefined || Math.abs(offset - this.#jump.offset) > 30)
      this.#jump = { since: monotonic, offset };
    return by <= longestPause && monotonic - this.#jump.since >= settleSeconds;
  }

  /** Lets the line follow a clock that drifts, never one that jumps. */
  #follow(wall: number, monotonic: number): void {
    const most = drift * Math.max(0, monotonic - this.#confirmed.monotonic);
    this.#line! += Math.max(-most, Math.min(most, this.#ahead(wall, monotonic)));
    this.#confirmed = { monotonic, uptime: this.#sources.uptime() };
    this.#jump = undefined;
  }
}
