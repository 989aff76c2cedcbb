/**
 * Gathers calls that arrive while an earlier batch is being written and hands them over together, so that many durable
 * writes share one transaction. Order is kept. A lone call goes at once; a few wait for a moment while many are being written.
 */
export interface Batcher<In, Out> extends WaitingItems {
  submit(item: In): Promise<Out>;
}

/** What waits, and has not begun to be written. */
export interface WaitingItems {
  /** How many wait. */
  readonly waiting: number;
  /** For how many milliseconds the first of them has waited; 0 when none does. */
  waitedMs(): number;
}

interface BatchOptions<In, Out> {
  /**
   * Writes all items, or none. Answers one result an item, in order.
   * @param prepared to be called, if at all, when it only waits for what it has sent: the next batch begins then, if it is
   * large enough (`patienceMs`), unless two others before it still wait.
   */
  write(items: In[], prepared: () => void): Promise<Out[]>;
  maxItems: number;
  /** Batches being written at the same time, but for two more that only wait. */
  concurrency: number;
  /** Names what the writing of an item locks: an item joins no batch while another one of its subject is being written. */
  subjectOf?(item: In): string;
  /** Whether an error would hit every item alike, for instance because the database is away. Then none is retried. */
  isShared?(error: unknown): boolean;
  /** How much may wait; what comes beyond it is refused at once. */
  limits: QueueLimits<In>;
}

/** Limits of what waits, and of what is written at once, in items and in weight. */
export interface QueueLimits<In> {
  maxWaiting: number;
  /** Tells what an item takes of memory, in any unit; nothing unless given. */
  weigh?(item: In): number;
  maxBatchWeight?: number;
  maxWaitingWeight?: number;
  /** Makes the error of a call that finds the queue full. */
  refusal(): Error;
}

/**
 * Makes a batcher. A batch that fails is tried again item by item, so that each call gets its own result or its own error
 * and one faulty item spoils no other. Every call settles exactly once.
 */
export function createBatcher<In, Out>(options: BatchOptions<In, Out>): Batcher<In, Out> {
  return new BatchQueue(options);
}

interface Waiting<In, Out> {
  item: In;
  subject: string | undefined;
  weight: number;
  /** Since when it waits, as `performance.now()` says. */
  since: number;
  resolve(result: Out): void;
  reject(error: unknown): void;
}

/** Batches that wait for what they have sent, beyond those that are being prepared. */
const waitingBatches = 2;

/**
 * So long does a batch wait until it has as many items as are being written, in milliseconds. Most of what a batch costs is the
 * same for few items as for many, and who calls again when answered would otherwise call in ever smaller groups.
 */
const patienceMs = 50;

class BatchQueue<In, Out> implements Batcher<In, Out> {
  readonly #options: BatchOptions<In, Out>;
  #queue: Waiting<In, Out>[] = [];
  #waitingWeight = 0;
  /** Subjects of the batches that are being written. */
  readonly #busy = new Set<string>();
  /** Batches that are being written, and those of them that are not prepared yet. */
  #running = 0;
  #unprepared = 0;
  /** Items that are being written. */
  #itemsRunning = 0;
  /** When the latest batch began, as `performance.now()` says. */
  #lastBegun = -Infinity;
  #isScheduled = false;
  /** Whether a timer will look again at what waits. */
  #isTimed = false;

  constructor(options: BatchOptions<In, Out>) {
    this.#options = options;
  }

  submit(item: In): Promise<Out> {
    const { limits, subjectOf } = this.#options;
    const { maxWaitingWeight = Infinity } = limits;
    return new Promise<Out>((resolve, reject) => {
      const weight = limits.weigh?.(item) ?? 0;
      const isFull =
        this.#queue.length >= limits.maxWaiting || this.#waitingWeight + weight > maxWaitingWeight;
      // A lone item is taken however heavy it is: nothing else will make room for it.
      if (isFull && this.#queue.length > 0) return reject(limits.refusal());
      this.#waitingWeight += weight;
      const since = performance.now();
      this.#queue.push({ item, subject: subjectOf?.(item), weight, since, resolve, reject });
      this.#schedule();
    });
  }

  get waiting(): number {
    return this.#queue.length;
  }

  waitedMs(): number {
    const [first] = this.#queue;
    return first === undefined ? 0 : performance.now() - first.since;
  }

  /** Begins batches in one turn of the event loop, so that requests that arrived together are written together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginBatches());
  }

  #beginBatches(): void {
    this.#isScheduled = false;
    while (this.#mayBegin()) {
      if (this.#isWorthWaiting()) return;
      const batch = this.#takeBatch();
      if (batch.length === 0) return;
      this.#begin(batch);
    }
  }

  #mayBegin(): boolean {
    const { concurrency } = this.#options;
    return this.#unprepared < concurrency && this.#running < concurrency + waitingBatches;
  }

  /** Says whether to wait until there are more items, or none are being written; then it is looked at again in time. */
  #isWorthWaiting(): boolean {
    const enough = Math.min(this.#itemsRunning, this.#options.maxItems);
    if (this.#queue.length === 0 || this.#queue.length >= enough) return false;
    const left = this.#lastBegun + patienceMs - performance.now();
    if (left <= 0) return false;
    if (!this.#isTimed)
      setTimeout(() => {
        this.#isTimed = false;
        this.#schedule();
      }, left).unref();
    this.#isTimed = true;
    return true;
  }

  /** Takes as many as may be written at once, and always one, of those whose subject is free. */
  #takeBatch(): Waiting<In, Out>[] {
    const { maxItems, limits } = this.#options;
    const { maxBatchWeight = Infinity } = limits;
    const batch: Waiting<In, Out>[] = [];
    const left: Waiting<In, Out>[] = [];
    let weight = 0;
    let isFull = false;
    for (const waiting of this.#queue) {
      const fits = batch.length === 0 || weight + waiting.weight <= maxBatchWeight;
      const isBusy = waiting.subject !== undefined && this.#busy.has(waiting.subject);
      // Nothing overtakes what no longer fits: it may have the same subject.
      isFull ||= batch.length === maxItems || (!isBusy && !fits);
      if (isBusy || isFull) left.push(waiting);
      else {
        weight += waiting.weight;
        batch.push(waiting);
      }
    }
    this.#queue = left;
    this.#waitingWeight -= weight;
    return batch;
  }

  #begin(batch: readonly Waiting<In, Out>[]): void {
    const subjects = new Set(batch.flatMap(({ subject }) => subject ?? []));
    for (const subject of subjects) this.#busy.add(subject);
    let isPrepared = false;
    const prepared = (): void => {
      if (!isPrepared) this.#unprepared -= 1;
      isPrepared = true;
      this.#schedule();
    };
    this.#running += 1;
    this.#unprepared += 1;
    this.#itemsRunning += batch.length;
    this.#lastBegun = performance.now();
    void this.#write(batch, prepared).finally(() => {
      this.#running -= 1;
      this.#itemsRunning -= batch.length;
      for (const subject of subjects) this.#busy.delete(subject);
      prepared();
    });
  }

  async #write(batch: readonly Waiting<In, Out>[], prepared: () => void): Promise<void> {
    try {
      const results = await this.#options.write(
        batch.map(({ item }) => item),
        prepared,
      );
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Out);
    } catch (error) {
      if (batch.length === 1 || this.#options.isShared?.(error) === true)
        for (const { reject } of batch) reject(error);
      else for (const waiting of batch) await this.#write([waiting], prepared);
    }
  }
}
