import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { type Server, stopProcess } from "../bench/processes.ts";
import type { AttackJob, Step } from "./attacker.ts";
import { emptyTally, type Target } from "./client.ts";
import { judge, type Observed, type Outcome, type Promised } from "./judge.ts";
import type { Seen } from "./probe.ts";
import { type Scale } from "./scale.ts";
import type { Shape } from "./scene.ts";
import {
  LoopWatch,
  MemoryWatch,
  memoryReader,
  type MemoryReader,
  type Probe,
  startProgram,
} from "./watch.ts";
import { Writer } from "./writer.ts";

/** What is attacked, and how. */
export interface Attack {
  target: Target;
  server: Server | undefined;
  scale: Scale;
  short: boolean;
  promised: Promised;
}

/** Milliseconds that the preparation of a shape, or the shape itself, may take. */
const patienceMs = 600_000;

/** Waits for the attacker's next step; its end and its silence count as failures. */
function nextStep(child: ReturnType<typeof startProgram>): Promise<Step> {
  return Promise.race([
    once(child, "message").then(([step]) => step as Step),
    once(child, "exit").then(([status]): Step => ({
      step: "failed",
      error: `the attacker ended: ${status}`,
    })),
    sleep(patienceMs, undefined, { ref: false }).then((): Step => ({
      step: "failed",
      error: "no end in time",
    })),
  ]);
}

type Ran = Pick<Observed, "tally" | "notes" | "wrongs" | "error">;

function ranAs(step: Step): Ran {
  if (step.step === "ran") return { tally: step.tally, notes: step.notes, wrongs: step.wrongs };
  const error = step.step === "failed" ? step.error : "out of step";
  return { tally: emptyTally(), notes: [], wrongs: [], error };
}

const nothingSeen: Seen = {
  probes: 0,
  p50: 0,
  p99: 0,
  worst: 0,
  own: { live: 0, list: 0 },
  machine: 0,
  failures: [],
  refused: 0,
};

/** Runs a prepared shape while the probe asks, a pipeline writes, and memory is watched. */
async function observe(
  child: ReturnType<typeof startProgram>,
  attack: Attack,
  shape: Shape,
  probe: Probe,
  read: MemoryReader,
): Promise<Observed> {
  const memory = new MemoryWatch(read);
  const loop = new LoopWatch(attack.server);
  const writer = new Writer(attack.target, shape.name);
  const before = await read();
  await probe.look();
  memory.start();
  writer.start();
  const begun = performance.now();
  child.send("go");
  const ran = ranAs(await nextStep(child));
  const seconds = (performance.now() - begun) / 1000;
  await writer.stop();
  const after = await memory.calm(before, attack.promised.memoryBack, attack.scale.calmMs);
  await memory.stop();
  const seen = await probe.look();
  const heldMs = loop.stop();
  const kept = await writer.check();
  writer.close();
  ran.tally.faults.push(...writer.tally.faults);
  return { seconds, seen, heldMs, before, peak: memory.peak, after, kept, ...ran };
}

async function runShape(
  child: ReturnType<typeof startProgram>,
  attack: Attack,
  shape: Shape,
  probe: Probe,
): Promise<Outcome> {
  const { target, server, short } = attack;
  const read = memoryReader(target, server);
  const job: AttackJob = { shape: shape.name, target, short };
  child.send(job);
  const step = await nextStep(child);
  const observed =
    step.step === "prepared"
      ? await observe(child, attack, shape, probe, read)
      : await unprepared(ranAs(step), read);
  return {
    name: shape.name,
    what: shape.what,
    ...observed,
    broken: judge(shape, observed, attack.promised),
  };
}

/** Makes the observation of a shape that could not be prepared. */
async function unprepared(ran: Ran, read: MemoryReader): Promise<Observed> {
  const now = await read();
  const kept = { acknowledged: 0, lost: [], changed: [] };
  return {
    seconds: 0,
    seen: nothingSeen,
    heldMs: undefined,
    before: now,
    peak: now,
    after: now,
    kept,
    ...ran,
  };
}

/** Measures what the probe sees while nothing happens for so long: the waits that the machine itself causes. */
export async function calibrate(probe: Probe, { restMs }: Scale): Promise<Seen> {
  await sleep(1000);
  await probe.look();
  await sleep(restMs);
  return probe.look();
}

/**
 * Runs shapes one after the other, and passes each outcome to `tell` at once.
 * @returns the outcomes; fewer than there are shapes when the server died of one.
 */
export async function runShapes(
  attack: Attack,
  shapes: readonly Shape[],
  probe: Probe,
  tell: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let isGone = false as boolean;
  void attack.server?.ended.then(() => {
    isGone = true;
  });
  let child = startProgram("attacker.ts");
  try {
    for (const shape of shapes) {
      const outcome = await runShape(child, attack, shape, probe);
      if (isGone) outcome.broken.unshift("the server died");
      outcomes.push(outcome);
      tell(outcome);
      if (isGone) break;
      if (outcome.error === undefined) continue;
      // What did not end goes on for as long as its process does.
      await stopProcess(child);
      child = startProgram("attacker.ts");
    }
  } finally {
    await stopProcess(child);
  }
  return outcomes;
}
