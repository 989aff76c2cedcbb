import { type ChildProcess, spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";

import { describe, expect, it, onTestFinished } from "vitest";

import { type ClockedThread, type ReadProcessorTime, readProcessorTime } from "./processor-time.ts";
import {
  createSandbox,
  type Job,
  type Sandbox,
  SandboxBusy,
  type SandboxOptions,
  SandboxUnavailable,
} from "./sandbox.ts";

function sandboxOf(options: SandboxOptions): Sandbox {
  const sandbox = createSandbox({ threads: 1, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** Remembers what was told about threads. */
function listening(): {
  told: number[];
  workers: Set<Worker>;
  processorTime: ReadProcessorTime;
} {
  const [told, workers]: [number[], Set<Worker>] = [[], new Set()];
  const processorTime = async (thread: ClockedThread): Promise<number | undefined> => {
    const time = await readProcessorTime(thread);
    workers.add(thread.worker);
    if (time !== undefined) told.push(time);
    return time;
  };
  return { told, workers, processorTime };
}

function runs(program: string): Job {
  return { input: "1", steps: [{ kind: "run", program }] };
}

/** Some hundreds of milliseconds of work. */
const work = runs("reduce range(1000000) as $i (0; . + $i) | . > 0");
const endless = runs("def f: f; f");

/** Keeps every processor of the machine busy several times over. */
function keepBusy(): void {
  const spinning: ChildProcess[] = Array.from({ length: availableParallelism() * 4 }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  onTestFinished(() => {
    for (const child of spinning) child.kill("SIGKILL");
  });
}

describe.runIf(process.platform === "linux")("the limit of processor time", () => {
  it(
    "says of a program on a busy machine what it says of it on an idle one",
    { timeout: 120_000 },
    async () => {
      const { told, processorTime } = listening();
      const measuring = sandboxOf({ timeLimit: 30_000, processorTime });
      await measuring.run("a", runs("."));
      told.length = 0;
      const atRest = await measuring.run("a", work);
      const needed = told.at(-1)! - told[0]!;
      expect(needed).toBeGreaterThan(50);

      const timeLimit = Math.ceil(needed * 2.5);
      const sandbox = sandboxOf({ timeLimit });
      await sandbox.run("a", runs("."));
      keepBusy();
      const begun = performance.now();
      // Until the machine was so busy that the same limit on the time that passes would have cut a program short.
      let longest = 0;
      while (longest < timeLimit && performance.now() - begun < 90_000) {
        const before = performance.now();
        expect(await sandbox.run("a", work)).toEqual(atRest);
        longest = Math.max(longest, performance.now() - before);
      }
      expect(longest).toBeGreaterThan(timeLimit);
    },
  );

  it("ends a program that never ends when it has used that much", { timeout: 60_000 }, async () => {
    const { told, processorTime } = listening();
    const sandbox = sandboxOf({ timeLimit: 700, processorTime });
    await sandbox.run("a", runs("."));
    told.length = 0;
    expect(await sandbox.run("a", endless)).toEqual({ results: [], output: "", limit: "time" });
    const used = told.at(-1)! - told[0]!;
    expect(used).toBeGreaterThanOrEqual(700);
    expect(used).toBeLessThan(1_400);
  });

  it("counts what was used before anybody could look", async () => {
    // Looked at when a job begins, right after that, and when it is done: as if this process had had no time in between.
    const times = [0, 0, 0, 0, 0, 31_000];
    const sandbox = sandboxOf({ timeLimit: 30_000, processorTime: async () => times.shift() });
    expect(await sandbox.run("a", runs("."))).toEqual({ results: [{ problems: [] }], output: "1\n" });
    expect(await sandbox.run("a", runs("."))).toEqual({ results: [], output: "", limit: "time" });
  });
});

describe("a machine that is too busy", () => {
  it("is no verdict on a program", { timeout: 60_000 }, async () => {
    const starved = sandboxOf({ patience: 300, processorTime: async () => 0 });
    await expect(starved.run("a", endless)).rejects.toThrow(SandboxUnavailable);
    // As where nothing tells the processor time.
    const unclocked = sandboxOf({ patience: 300, processorTime: async () => undefined });
    await expect(unclocked.run("a", endless)).rejects.toThrow(SandboxUnavailable);
    const failing = sandboxOf({ patience: 300, processorTime: () => Promise.reject(new Error("away")) });
    await expect(failing.run("a", endless)).rejects.toThrow(SandboxUnavailable);
  });

  it("refuses what waited too long for its turn, and goes on", { timeout: 60_000 }, async () => {
    const sandbox = sandboxOf({ timeLimit: 1_000, maxWait: 200 });
    await sandbox.run("a", runs("."));
    const first = sandbox.run("a", endless);
    await expect(sandbox.run("b", runs("."))).rejects.toThrow(SandboxBusy);
    expect((await first).limit).toBe("time");
    expect((await sandbox.run("b", runs("."))).output).toBe("1\n");
  });
});

describe("a verdict", () => {
  it("does not come from what a thread did before", { timeout: 60_000 }, async () => {
    const { workers, processorTime } = listening();
    const sandbox = sandboxOf({ processorTime });
    const crash: Job = { input: "1", steps: [{ kind: "validate", schema: '{"$ref":"#"}' }] };
    expect((await sandbox.run("a", crash)).limit).toBe("crash");
    expect(workers.size).toBe(1);
    // This thread has done something: what crashes now is tried in one that has not.
    expect((await sandbox.run("b", crash)).limit).toBe("crash");
    expect(workers.size).toBe(2);
    expect((await sandbox.run("b", runs("."))).output).toBe("1\n");
    expect(sandbox.threads()).toBe(1);
  });
});
