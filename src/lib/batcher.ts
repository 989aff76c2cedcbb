/**
 * Gathers calls that arrive while an earlier batch is being written and hands them over together, so that many durable
 * writes share one transaction. Order is kept. Nothing waits for a timer: a lone call goes at once.
 */
export interface Batcher<In, Out> {
  submit(item: In): Promise<Out>;
}

interface Waiting<In, Out> {
  item: In;
  subject: string | undefined;
  weight: number;
  resolve(result: Out): void;
  reject(error: unknown): void;
}

export interface BatchOptions<In, Out> {
  /**
   * Writes all items, or none. Answers one result an item, in order.
   * @param prepared to be called, if at all, when it only waits for what it has sent: the next batch begins then, unless
   * two others before it still wait.
   */
  write(items: In[], prepared: () => void): Promise<Out[]>;
  maxItems: number;
  /** Batches being written at the same time, but for two more that only wait. */
  concurrency: number;
  /** What an item would wait for in the writing: it joins no batch while another one that writes the same is under way. */
  subjectOf?(item: In): string;
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

/** Batches that wait for what they have sent, beyond those that are being prepared. */
const waitingBatches = 2;

/**
 * A batch that fails is tried again item by item, so that each call gets its own result or its own error and one
 * faulty item spoils no other. Every call settles exactly once.
 */
export function createBatcher<In, Out>(options: BatchOptions<In, Out>): Batcher<In, Out> {
  const { room } = options;
  const { maxBatchWeight = Infinity, maxWaitingWeight = Infinity } = room;
  let queue: Waiting<In, Out>[] = [];
  /** Subjects of the batches that are being written. */
  const busy = new Set<string>();
  let waitingWeight = 0;
  /** Batches that are being written, and those of them that are not prepared yet. */
  let running = 0;
  let unprepared = 0;
  let scheduled = false;

  async function writeOne(waiting: Waiting<In, Out>, prepared: () => void): Promise<void> {
    try {
      const [result] = await options.write([waiting.item], prepared);
      waiting.resolve(result as Out);
    } catch (error) {
      waiting.reject(error);
    }
  }

  async function writeBatch(batch: Waiting<In, Out>[], prepared: () => void): Promise<void> {
    if (batch.length === 1) return writeOne(batch[0]!, prepared);
    try {
      const items = batch.map((waiting) => waiting.item);
      const results = await options.write(items, prepared);
      batch.forEach((waiting, index) => waiting.resolve(results[index] as Out));
    } catch (error) {
      if (options.isShared?.(error) === true) for (const waiting of batch) waiting.reject(error);
      else for (const waiting of batch) await writeOne(waiting, prepared);
    }
  }

  /** As many as may be written at once, and always one, of those whose subject is free. */
  function takeBatch(): Waiting<In, Out>[] {
    const batch: Waiting<In, Out>[] = [];
    const left: Waiting<In, Out>[] = [];
    let weight = 0;
    let isFull = false;
    for (const waiting of queue) {
      const fits = batch.length === 0 || weight + waiting.weight <= maxBatchWeight;
      const isBusy = waiting.subject !== undefined && busy.has(waiting.subject);
      // Nothing overtakes what no longer fits: it may have the same subject.
      isFull ||= batch.length === options.maxItems || (!isBusy && !fits);
      if (isBusy || isFull) left.push(waiting);
      else {
        weight += waiting.weight;
        batch.push(waiting);
      }
    }
    queue = left;
    waitingWeight -= weight;
    return batch;
  }

  function pump(): void {
    scheduled = false;
    while (unprepared < options.concurrency && running < options.concurrency + waitingBatches) {
      const batch = takeBatch();
      if (batch.length === 0) return;
      begin(batch);
    }
  }

  function begin(batch: Waiting<In, Out>[]): void {
    const subjects = new Set(batch.flatMap(({ subject }) => subject ?? []));
    for (const subject of subjects) busy.add(subject);
    let isPrepared = false;
    const prepared = (): void => {
      if (!isPrepared) unprepared -= 1;
      isPrepared = true;
      schedule();
    };
    running += 1;
    unprepared += 1;
    void writeBatch(batch, prepared).finally(() => {
      running -= 1;
      for (const subject of subjects) busy.delete(subject);
      prepared();
    });
  }

  /** One turn of the event loop lets requests that arrived together be written together. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(pump);
  }

  return {
    submit: (item) =>
      new Promise<Out>((resolve, reject) => {
        const weight = room.weigh?.(item) ?? 0;
        const isFull = queue.length >= room.maxWaiting || waitingWeight + weight > maxWaitingWeight;
        // A lone item is taken however heavy it is: nothing else will make room for it.
        if (isFull && queue.length > 0) return reject(room.full());
        waitingWeight += weight;
        queue.push({ item, subject: options.subjectOf?.(item), weight, resolve, reject });
        schedule();
      }),
  };
}
