import { answerWithin } from "../answer-within.ts";
import type { SpanBatch, SpanRecord } from "./span.ts";
import type { TraceSettings } from "./tracing.ts";

/** Brings spans to where they are exported to. @returns whether they arrived. Never fails. */
export type Export = (body: Uint8Array) => Promise<boolean>;

interface FullBatch {
  body: Uint8Array;
  count: number;
}

/**
 * Lets spans wait until there are enough of them, or the oldest has waited long enough, and has them exported: one batch at a time, for as long as
 * that may take. It holds no more than it may, and counts what is lost (OpenTelemetry's "Batching processor").
 */
export class SpanQueue {
  readonly #settings: TraceSettings["batch"];
  readonly #filling: SpanBatch;
  readonly #export: Export;
  readonly #full: FullBatch[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #isExporting = false;
  #isClosed = false;
  #dropped = 0;

  /** @param filling what they are collected in, which is empty. */
  constructor(settings: TraceSettings["batch"], filling: SpanBatch, bring: Export) {
    this.#settings = settings;
    this.#filling = filling;
    this.#export = bring;
  }

  /** How many were not exported: they found no room, or did not arrive. */
  get dropped(): number {
    return this.#dropped;
  }

  add(span: SpanRecord): void {
    if (this.#isClosed || this.#waiting >= this.#settings.mostWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#filling.add(span);
    this.#waiting += 1;
    if (this.#filling.count >= this.#settings.mostAtOnce) this.#fill();
    if (!this.#isExporting) this.#schedule();
  }

  /** Exports all that is there, at once, and takes nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#filling.count > 0) this.#fill();
    for (const batch of this.#full.splice(0)) void this.#begin(batch);
    await Promise.all(this.#underWay);
  }

  /** Takes what is collected for a batch. */
  #fill(): void {
    const { count } = this.#filling;
    this.#full.push({ body: this.#filling.take(), count });
  }

  /** Sees to it that the next batch is exported: now if it is full, else when its time has come. */
  #schedule(): void {
    if (this.#full.length > 0) void this.#exportNext();
    else if (this.#filling.count > 0)
      this.#timer ??= setTimeout(() => void this.#exportNext(), this.#settings.delayMs).unref();
  }

  async #exportNext(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#full.length === 0) this.#fill();
    const batch = this.#full.shift();
    if (batch === undefined) return;
    this.#isExporting = true;
    await answerWithin(this.#settings.timeoutMs, this.#begin(batch), () => undefined);
    this.#isExporting = false;
    this.#schedule();
  }

  /** Begins to export a batch, whose spans wait no more. @returns when it is known what came of it. */
  async #begin({ body, count }: FullBatch): Promise<void> {
    this.#waiting -= count;
    const outcome = this.#export(body).then((hasArrived) => {
      if (!hasArrived) this.#dropped += count;
    });
    this.#underWay.add(outcome);
    await outcome;
    this.#underWay.delete(outcome);
  }
}
