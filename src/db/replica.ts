import { setTimeout as delay } from "node:timers/promises";

import { answerWithin } from "../lib/answer-within.ts";
import { sharedRuns } from "../lib/shared-runs.ts";
import type { Database, Executor } from "./connect.ts";
import { boolean, integer, type RowOf, text } from "./row.ts";
import { query, raw } from "./sql.ts";
import { sqlState, sqlStateOf } from "./sqlstate.ts";

/** Thrown when what is called a replica is one of another database. */
export class ForeignReplicaError extends Error {}

/**
 * How a replica stands to a question that was just asked: `current` when it has all that had been committed by then;
 * `behind` when it has not, even after a short wait; `away` when it does not answer, is a replica no more, or of another timeline.
 */
export type ReplicaState = "current" | "behind" | "away";

/** A read replica of the database: a standby, which follows it. */
export interface Replica {
  /** Reads from the replica, and what fails there from the primary. */
  readonly db: Database;
  /** Finds out whether the replica has all that was committed before this was called, and waits for it a little. */
  state(): Promise<ReplicaState>;
  /** Bytes of the log that it had not replayed when it was last looked at; undefined when that is not known. */
  lag(): number | undefined;
  /** @throws ForeignReplicaError when it follows another database. */
  requireKin(): Promise<void>;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  primary: Database;
  replica: Database;
  /** Called when it goes away, with why. */
  onAway(error: unknown): void;
}

/** Longer than what is read there takes: then the primary is asked. */
const readWithinMs = 5_000;

const lookWithinMs = 250;
const waitAtMostMs = 40;
const restMs = 1_000;

/** A place in the write-ahead log: bytes since its beginning. It means something on its own timeline alone. */
const place = { timeline: integer, position: integer };
const progress = { following: boolean, ...place };

/**
 * What was acknowledged is before the flushed position. The name of the file says on which timeline that is; the last checkpoint
 * (`pg_control_checkpoint`) does not for a while after a promotion.
 */
const flushed = raw(`select (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::int8 as position,
  ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int8 as timeline`);

/**
 * The timeline that is received is told to members of `pg_read_all_stats`. The other one is older at times, never newer than what
 * was replayed.
 */
const replayed = raw(`select pg_is_in_recovery() as following,
  coalesce(pg_last_wal_replay_lsn() - '0/0'::pg_lsn, 0)::int8 as position,
  coalesce((select received_tli from pg_stat_wal_receiver),
    (select min_recovery_end_timeline from pg_control_recovery()))::int8 as timeline`);

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return answerWithin(ms, work, () => {
    throw new Error(`The replica did not answer within ${ms} ms`);
  });
}

class Standby implements Replica {
  readonly db: Database;
  readonly #options: ReplicaOptions;
  readonly #flushed: () => Promise<RowOf<typeof place>>;
  readonly #replayed: () => Promise<RowOf<typeof progress>>;
  #isKin = false;
  /** Since it was current last. */
  #isAway = false;
  #awayUntil = 0;
  #behindUntil = 0;
  #lag: number | undefined;

  constructor(options: ReplicaOptions) {
    const { primary, replica } = options;
    this.db = {
      ...primary,
      all: (read) => this.#read((db) => db.all(read)),
      first: (read) => this.#read((db) => db.first(read)),
      one: (read) => this.#read((db) => db.one(read)),
      sliced: (read) => replica.sliced(read),
    };
    this.#options = options;
    const pipelined = { pipelined: true } as const;
    this.#flushed = sharedRuns(() => primary.one(query("flushed-position", place, pipelined)`${flushed}`));
    this.#replayed = sharedRuns(() =>
      within(lookWithinMs, replica.one(query("replayed-position", progress, pipelined)`${replayed}`)),
    );
  }

  async state(): Promise<ReplicaState> {
    if (performance.now() < this.#awayUntil) return "away";
    try {
      // Begun by this question: what was acknowledged before it is part of that.
      const wanted = this.#flushed();
      wanted.catch(() => {});
      if (!this.#isKin) await within(lookWithinMs, this.requireKin());
      return await this.#reaches(await wanted);
    } catch (error) {
      this.#failed(error);
      return "away";
    }
  }

  async #read<T>(from: (db: Executor) => Promise<T>): Promise<T> {
    const { primary, replica } = this.#options;
    try {
      return await within(readWithinMs, from(replica));
    } catch (error) {
      // What is replayed may take away the rows of a read there, which says nothing of the replica.
      if (sqlStateOf(error) !== sqlState.serializationFailure) this.#failed(error);
      return from(primary);
    }
  }

  /** Takes note that it does not answer as it should: it is not asked again for a second. */
  #failed(error: unknown): void {
    if (!this.#isAway) this.#options.onAway(error);
    this.#isAway = true;
    this.#awayUntil = performance.now() + restMs;
    // Whoever answers there next may be somebody else.
    this.#isKin = false;
    this.#lag = undefined;
  }

  lag(): number | undefined {
    return this.#lag;
  }

  close(): Promise<void> {
    return this.#options.replica.close();
  }

  async requireKin(): Promise<void> {
    const identifier = query({ id: text })`select system_identifier::text as id from pg_control_system()`;
    const { primary, replica } = this.#options;
    const [ours, theirs] = await Promise.all([primary.one(identifier), replica.one(identifier)]);
    if (ours.id !== theirs.id)
      throw new ForeignReplicaError("DATABASE_READ_URL leads to no replica of the database at DATABASE_URL.");
    this.#isKin = true;
  }

  /** Looks, and looks again for a while unless that was of no use a moment ago. */
  async #reaches(wanted: RowOf<typeof place>): Promise<ReplicaState> {
    const began = performance.now();
    for (let pause = 1; ; pause *= 2) {
      const reached = await this.#replayed();
      if (!reached.following) throw new Error("The replica follows no primary any more");
      // After a failover, or a primary that was put back: positions say nothing of what it has, and it may have what is no more.
      if (reached.timeline !== wanted.timeline)
        throw new Error(
          `The replica is on timeline ${reached.timeline}, the primary on timeline ${wanted.timeline}`,
        );
      this.#lag = Math.max(0, wanted.position - reached.position);
      const now = performance.now();
      if (reached.position >= wanted.position) {
        this.#isAway = false;
        return "current";
      }
      if (now < this.#behindUntil) return "behind";
      if (now - began + pause > waitAtMostMs) {
        this.#behindUntil = now + restMs;
        return "behind";
      }
      await delay(pause);
    }
  }
}

/** Makes use of a replica that the database has. */
export function createReplica(options: ReplicaOptions): Replica {
  return new Standby(options);
}
