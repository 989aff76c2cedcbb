/**
 * Gathers calls that arrive while an earlier batch is being written and hands them over together, so that many durable
 * writes share one transaction. Order is kept. Nothing waits for a timer: a lone call goes at once.
 */
export interface Batcher<In, Out> {
  submit(item: In): Promise<Out>;
}

interface Waiting<In, Out> {
  item: In;
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
}

/**
 * A batch that fails is tried again item by item, so that each call gets its own result or its own error and one
 * faulty item spoils no other. Every call settles exactly once.
 */
export function createBatcher<In, Out>(options: BatchOptions<In, Out>): Batcher<In, Out> {
  const queue: Waiting<In, Out>[] = [];
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

  function pump(): void {
    scheduled = false;
    while (running < options.concurrency && queue.length > 0) {
      const batch = queue.splice(0, options.maxItems);
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
        queue.push({ item, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        // One turn of the event loop lets requests that arrived together be written together.
        setImmediate(pump);
      }),
  };
}
