import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createBatcher, type QueueLimits } from "./batcher.ts";

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const unlimited = { maxWaiting: 10_000, refusal: () => new Error("full") };

describe("createBatcher", () => {
  it("writes a lone item at once and alone", async () => {
    const batches: number[][] = [];
    const batcher = createBatcher<number, number>({
      maxItems: 10,
      limits: unlimited,
      concurrency: 1,
      write: async (items) => {
        batches.push(items);
        return items.map((item) => item * 2);
      },
    });
    expect(await batcher.submit(4)).toBe(8);
    expect(batches).toEqual([[4]]);
  });

  it("gathers what arrives together, up to the limit, in order", async () => {
    const batches: number[][] = [];
    const batcher = createBatcher<number, number>({
      maxItems: 3,
      limits: unlimited,
      concurrency: 1,
      write: async (items) => {
        batches.push(items);
        await turn();
        return items;
      },
    });
    expect(await Promise.all([1, 2, 3, 4, 5, 6, 7].map((item) => batcher.submit(item)))).toEqual([
      1, 2, 3, 4, 5, 6, 7,
    ]);
    expect(batches).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
  });

  it("begins the next batch when the last one is prepared, and no fourth one before the first is done", async () => {
    const log: string[] = [];
    const ends: (() => void)[] = [];
    const batcher = createBatcher<number, number>({
      maxItems: 1,
      limits: unlimited,
      concurrency: 1,
      write: async (items, prepared) => {
        log.push(`begin ${items.join()}`);
        await turn();
        log.push(`prepared ${items.join()}`);
        prepared();
        prepared();
        await new Promise<void>((end) => ends.push(end));
        log.push(`end ${items.join()}`);
        return items;
      },
    });
    const all = Promise.all([1, 2, 3, 4].map((item) => batcher.submit(item)));
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(log).toEqual([1, 2, 3].flatMap((item) => [`begin ${item}`, `prepared ${item}`]));
    while (ends.length > 0) {
      ends.shift()!();
      for (let turns = 0; turns < 5; turns += 1) await turn();
    }
    expect(await all).toEqual([1, 2, 3, 4]);
    expect(log.slice(6)).toEqual(["end 1", "begin 4", "prepared 4", "end 2", "end 3", "end 4"]);
  });

  it("lets few wait until they are as many as are being written, or nothing is", async () => {
    const batches: number[][] = [];
    const ends: (() => void)[] = [];
    const batcher = createBatcher<number, number>({
      maxItems: 10,
      limits: unlimited,
      concurrency: 1,
      write: async (items, prepared) => {
        batches.push(items);
        prepared();
        await new Promise<void>((end) => ends.push(end));
        return items;
      },
    });
    const submitted = [1, 2, 3].map((item) => batcher.submit(item));
    const begins = async (item: number): Promise<void> => {
      submitted.push(batcher.submit(item));
      await turn();
      await turn();
    };
    await begins(4);
    for (const item of [5, 6, 7]) await begins(item);
    expect(batches).toEqual([[1, 2, 3, 4]]);
    await begins(8);
    await begins(9);
    expect(batches).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]);
    for (const end of ends) end();
    await turn();
    await turn();
    expect(batches).toEqual([[1, 2, 3, 4], [5, 6, 7, 8], [9]]);
    ends.at(-1)?.();
    expect(await Promise.all(submitted)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("lets nothing wait for a batch that takes long", async () => {
    const ends: (() => void)[] = [];
    const batcher = createBatcher<number, number>({
      maxItems: 10,
      limits: unlimited,
      concurrency: 1,
      write: async (items, prepared) => {
        prepared();
        if (items.length > 1) await new Promise<void>((end) => ends.push(end));
        return items;
      },
    });
    const long = Promise.all([1, 2, 3].map((item) => batcher.submit(item)));
    await turn();
    expect(await batcher.submit(4)).toBe(4);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    expect(await long).toEqual([1, 2, 3]);
  });

  it("lets what writes the same wait for the batch that does, and nothing else", async () => {
    const batches: string[][] = [];
    const batcher = createBatcher<string, string>({
      maxItems: 2,
      limits: unlimited,
      concurrency: 1,
      subjectOf: (item) => item[0]!,
      write: async (items, prepared) => {
        batches.push(items);
        prepared();
        for (let turns = 0; turns < 5; turns += 1) await turn();
        return items;
      },
    });
    const items = ["a1", "a2", "a3", "b1", "a4", "c1", "c2", "b2"];
    expect(await Promise.all(items.map((item) => batcher.submit(item)))).toEqual(items);
    expect(batches).toEqual([
      ["a1", "a2"],
      ["b1", "c1"],
      ["a3", "a4"],
      ["c2", "b2"],
    ]);
  });

  it("keeps the order of what writes the same, whatever fits into a batch", async () => {
    const item = fc.record({ subject: fc.constantFrom("a", "b", "c"), weight: fc.nat(5) });
    await fc.assert(
      fc.asyncProperty(fc.array(item), fc.integer({ min: 1, max: 4 }), async (items, maxItems) => {
        const written: { subject: string; weight: number; at: number }[] = [];
        const busy = new Set<string>();
        const batcher = createBatcher<(typeof written)[number], number>({
          maxItems,
          limits: { ...unlimited, weigh: ({ weight }) => weight, maxBatchWeight: 6 },
          concurrency: 1,
          subjectOf: ({ subject }) => subject,
          write: async (batch, prepared) => {
            const subjects = new Set(batch.map(({ subject }) => subject));
            expect([...subjects].filter((subject) => busy.has(subject))).toEqual([]);
            for (const subject of subjects) busy.add(subject);
            await turn();
            prepared();
            await turn();
            for (const subject of subjects) busy.delete(subject);
            written.push(...batch);
            return batch.map(({ at }) => at);
          },
        });
        const numbered = items.map((one, at) => ({ ...one, at }));
        const answers = await Promise.all(numbered.map((one) => batcher.submit(one)));
        expect(answers).toEqual(numbered.map(({ at }) => at));
        for (const subject of ["a", "b", "c"]) {
          const order = written.filter((one) => one.subject === subject).map(({ at }) => at);
          expect(order).toEqual(order.toSorted((x, y) => x - y));
        }
      }),
    );
  });

  it("goes on after a batch that failed, prepared or not", async () => {
    const batcher = createBatcher<number, number>({
      maxItems: 1,
      limits: unlimited,
      concurrency: 1,
      write: async ([item], prepared) => {
        if (item! > 1) prepared();
        if (item! < 3) throw new Error("no");
        return [item!];
      },
    });
    const settled = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.submit(item)));
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "fulfilled"]);
  });

  it("retries a failed batch item by item, so that only faulty items fail", async () => {
    const batcher = createBatcher<number, number>({
      maxItems: 10,
      limits: unlimited,
      concurrency: 1,
      write: async (items) => {
        if (items.includes(2)) throw new Error("two");
        return items;
      },
    });
    const settled = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("does not retry what would hit every item alike", async () => {
    let writes = 0;
    const batcher = createBatcher<number, number>({
      maxItems: 10,
      limits: unlimited,
      concurrency: 1,
      isShared: () => true,
      write: async () => {
        writes += 1;
        throw new Error("away");
      },
    });
    const settled = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(writes).toBe(1);
  });

  it("settles every call exactly once with its own outcome, keeps order and limits, whatever fails", async () => {
    const options = fc.record({
      maxItems: fc.integer({ min: 1, max: 6 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
      items: fc.array(fc.record({ faulty: fc.boolean(), wait: fc.boolean() }), { maxLength: 40 }),
      failures: fc.infiniteStream(fc.boolean()),
    });
    await fc.assert(
      fc.asyncProperty(options, async ({ maxItems, concurrency, items, failures }) => {
        let writing = 0;
        const firstWrites: number[] = [];
        const written: number[] = [];
        const batcher = createBatcher<number, string>({
          maxItems,
          limits: unlimited,
          concurrency,
          write: async (batch) => {
            writing += 1;
            expect(writing).toBeLessThanOrEqual(concurrency);
            expect(batch.length).toBeLessThanOrEqual(maxItems);
            for (const item of batch) if (!firstWrites.includes(item)) firstWrites.push(item);
            await turn();
            writing -= 1;
            // A batch may fail for reasons no item is to blame for; a single item only by its own fault.
            const unlucky = batch.length > 1 && failures.next().value;
            if (unlucky || batch.some((item) => items[item]!.faulty))
              throw new Error(`failed ${batch.join()}`);
            written.push(...batch);
            return batch.map((item) => `result ${item}`);
          },
        });
        const settlements = items.map(() => 0);
        const calls = [];
        for (const [index, { wait }] of items.entries()) {
          const call = batcher.submit(index);
          const count = (): void => void (settlements[index]! += 1);
          call.then(count, count);
          calls.push(call);
          if (wait) await turn();
        }
        const settled = await Promise.allSettled(calls);
        for (const [index, outcome] of settled.entries())
          if (items[index]!.faulty) expect(outcome).toMatchObject({ reason: { message: `failed ${index}` } });
          else expect(outcome).toEqual({ status: "fulfilled", value: `result ${index}` });
        expect(settlements).toEqual(items.map(() => 1));
        expect(firstWrites).toEqual(items.map((_, index) => index));
        expect(written.toSorted((a, b) => a - b)).toEqual(
          items.flatMap(({ faulty }, index) => (faulty ? [] : [index])),
        );
      }),
    );
  });

  /** A batcher whose writes end when they are told to. */
  function blocked(limits: Partial<QueueLimits<number>>) {
    const batches: number[][] = [];
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const batcher = createBatcher<number, number>({
      maxItems: 10,
      concurrency: 1,
      limits: { ...unlimited, ...limits },
      write: async (items) => {
        batches.push(items);
        await gate;
        return items;
      },
    });
    return { batcher, batches, release };
  }

  it("refuses what finds no room, and takes more when there is room again", async () => {
    const { batcher, release } = blocked({ maxWaiting: 2 });
    const first = batcher.submit(1);
    await turn();
    const waiting = [batcher.submit(2), batcher.submit(3)];
    await expect(batcher.submit(4)).rejects.toThrow("full");
    release();
    expect(await Promise.all([first, ...waiting])).toEqual([1, 2, 3]);
    expect(await batcher.submit(5)).toBe(5);
  });

  it("bounds the weight of what waits and of what is written at once", async () => {
    const { batcher, batches, release } = blocked({
      weigh: (item) => item,
      maxBatchWeight: 10,
      maxWaitingWeight: 20,
    });
    const first = batcher.submit(1);
    await turn();
    const waiting = [6, 4, 5, 5].map((item) => batcher.submit(item));
    await expect(batcher.submit(1)).rejects.toThrow("full");
    release();
    await Promise.all([first, ...waiting]);
    expect(batches).toEqual([[1], [6, 4], [5, 5]]);
    // However heavy, when nothing else waits.
    expect(await batcher.submit(100)).toBe(100);
  });
});
