/**
 * Gathers calls that arrive while an earlier batch is being written and hands them over together, so that many durable
 * writes share one transaction. Order is kept. Nothing waits for a timer: a lone call goes at once.
 */
export interface Batcher<In, Out> {
  submit(item: In): Promise<Out>;
}

interface Waiting<In, Out> {
  item: In;
  weight: number;
  resolve(result: Out): void;
  reject(error: unknown): void;
}

export interface BatchOptions<In, Out> {
  /** Writes all items, or none. Answers one result an item, in order. */
  write(items: In[]): Promise<Out[]>;
  maxItems: number;
  /** Batches being written at the same time. */
  concurrency: number;
  /** Whether an error would hit every item alike, for instance because the database is away. Then none is retried. */
  isShared?(error: unknown): boolean;
  /** How much may wait; what comes beyond it is refused at once. */
  room: Room<In>;
}

/** Bounds what waits, and what is written at once, in items and in weight. */
export interface Room<In> {
  maxWaiting: number;
  /** What an item takes of memory, in any unit; nothing unless given. */
  weigh?(item: In): number;
  maxBatchWeight?: number;
  maxWaitingWeight?: number;
  /** The error of a call that finds no room. */
  full(): Error;
}

/**
 * A batch that fails is tried again item by item, so that each call gets its own result or its own error and one
 * faulty item spoils no other. Every call settles exactly once.
 */
export function createBatcher<In, Out>(options: BatchOptions<In, Out>): Batcher<In, Out> {
  const { room } = options;
  const { maxBatchWeight = Infinity, maxWaitingWeight = Infinity } = room;
  const queue: Waiting<In, Out>[] = [];
  let waitingWeight = 0;
  let running = 0;
  let scheduled = false;

  async function writeOne(waiting: Waiting<In, Out>): Promise<void> {
    try {
      const [result] = await options.write([waiting.item]);
      waiting.resolve(result as Out);
    } catch (error) {
      waiting.reject(error);
    }
  }

  async function writeBatch(batch: Waiting<In, Out>[]): Promise<void> {
    if (batch.length === 1) return writeOne(batch[0]!);
    try {
      const results = await options.write(batch.map((waiting) => waiting.item));
      batch.forEach((waiting, index) => waiting.resolve(results[index] as Out));
    } catch (error) {
      if (options.isShared?.(error) === true) for (const waiting of batch) waiting.reject(error);
      else for (const waiting of batch) await writeOne(waiting);
    }
  }

  /** As many as may be written at once, and always one. */
  function takeBatch(): Waiting<In, Out>[] {
    let weight = 0;
    let count = 0;
    while (count < queue.length && count < options.maxItems) {
      weight += queue[count]!.weight;
      if (count > 0 && weight > maxBatchWeight) break;
      count += 1;
    }
    const batch = queue.splice(0, count);
    for (const waiting of batch) waitingWeight -= waiting.weight;
    return batch;
  }

  function pump(): void {
    scheduled = false;
    while (running < options.concurrency && queue.length > 0) {
      const batch = takeBatch();
      running += 1;
      void writeBatch(batch).finally(() => {
        running -= 1;
        pump();
      });
    }
  }

  return {
    submit: (item) =>
      new Promise<Out>((resolve, reject) => {
        const weight = room.weigh?.(item) ?? 0;
        const isFull = queue.length >= room.maxWaiting || waitingWeight + weight > maxWaitingWeight;
        // A lone item is taken however heavy it is: nothing else will make room for it.
        if (isFull && queue.length > 0) return reject(room.full());
        waitingWeight += weight;
        queue.push({ item, weight, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        // One turn of the event loop lets requests that arrived together be written together.
        setImmediate(pump);
      }),
  };
}
