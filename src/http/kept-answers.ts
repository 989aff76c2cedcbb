import type { Clock } from "../lib/clock.ts";
import type { Encoding } from "../lib/compress.ts";
import { TextCache } from "../lib/text-cache.ts";
import { type Metrics, showGauge } from "../modules/kernel/metrics.ts";

const nothing = Buffer.alloc(0);

/** An answer that was made, to be given again. */
export class KeptAnswer {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  /** Undefined for one that is sent in pieces, each of which is compressed when it is sent. */
  readonly forms: AnswerForms | undefined;
  /** Of one whose body is kept by its version, and not here. */
  readonly version: string | undefined;

  constructor(parts: Partial<KeptAnswer>) {
    this.headers = parts.headers ?? {};
    this.body = parts.body ?? nothing;
    this.forms = parts.forms;
    this.version = parts.version;
  }
}

/** What was made of a body for those who asked for it, so that it is not made again. */
export class AnswerForms {
  tag: string | undefined;
  readonly #compressed = new Map<Encoding, Buffer>();
  #room: number;

  /** @param room bytes that all compressed forms may take together. */
  constructor(room: number) {
    this.#room = room;
  }

  /** Finds the body compressed in this way. */
  compressed(encoding: Encoding): Buffer | undefined {
    return this.#compressed.get(encoding);
  }

  /** Remembers the body compressed, if there is room. */
  remember(encoding: Encoding, bytes: Buffer): void {
    if (bytes.length > this.#room || this.#compressed.has(encoding)) return;
    this.#room -= bytes.length;
    this.#compressed.set(encoding, bytes);
  }
}

interface Entry {
  mark: string;
  answer: KeptAnswer;
  /** When it was begun, by the clock that it may show and by that of the process; undefined for what no clock changes. */
  begun: Moment | undefined;
}

/** A moment by the program's clock, in seconds, and by the process's, in milliseconds. */
export interface Moment {
  at: number;
  process: number;
}

/** How long an answer may be given again that depends on when it was made. In seconds. */
const longest = 1;

/** What an answer takes beside its bytes, about. */
const overhead = 1_000;

/** One answer may take so much of all room. */
const largestShare = 1 / 4;

/** Says how much memory an entry may come to take, in bytes: its compressed forms are made later, and together no longer than it is. */
function weightOf(key: string, { mark, answer }: Entry): number {
  const forms = answer.forms === undefined ? 1 : 2;
  const texts = key.length + mark.length + (answer.version?.length ?? 0);
  return overhead + 2 * texts + forms * answer.body.length;
}

/**
 * Answers in memory, by what was asked, each with a mark: the state of the database that it was made in, or its version. It is given only to who comes with
 * the same mark. Those not asked for longest go when there is no room.
 */
export class KeptAnswers {
  /** Bytes that one of them may have. */
  readonly largest: number;
  readonly #clock: Clock;
  readonly #entries: TextCache<Entry>;

  /** @param room bytes that all may take; 0: none is kept. */
  constructor(room: number, clock: Clock) {
    this.largest = room * largestShare;
    this.#clock = clock;
    this.#entries = new TextCache(room);
  }

  /** Says which moment it is, for what will be kept. */
  now(): Moment {
    return { at: this.#clock.now(), process: performance.now() };
  }

  /** Bytes that all take. */
  get taken(): number {
    return this.#entries.length;
  }

  /** Finds an answer with this mark that may still be given. */
  find(key: string, mark: string): KeptAnswer | undefined {
    const found = this.#entries.get(key);
    if (found === undefined || found.mark !== mark || this.#isOld(found)) return undefined;
    return found.answer;
  }

  /** Keeps an answer, in place of one that was asked for in the same way. @param begun when, for what a clock changes. */
  keep(key: string, mark: string, answer: KeptAnswer, begun?: Moment): void {
    const entry = { mark, answer, begun };
    const weight = weightOf(key, entry);
    if (weight <= this.largest) this.#entries.set(key, entry, weight);
  }

  #isOld({ begun }: Entry): boolean {
    if (begun === undefined) return false;
    const { at, process } = this.now();
    // A clock that was set back says nothing of what it will show.
    return at < begun.at || at - begun.at >= longest || process - begun.process >= longest * 1000;
  }
}

/** Shows how much of memory kept answers take. */
export function showKeptAnswers(metrics: Metrics, kept: KeptAnswers): void {
  const figure = {
    name: "waybill_http_kept_answer_bytes",
    help: "Memory of answers that are kept to be given again while nothing has been written",
  };
  showGauge(metrics, figure, () => kept.taken);
}
