// Runs shapes against a server, one after the other, step by step as its parent says. A process of its own that leaves the processors to
// others first: what it takes must not be what makes callers wait.
import { once } from "node:events";
import { setPriority } from "node:os";

import type { Tally, Target } from "./client.ts";
import { fullScale, type Scale, shortScale } from "./scale.ts";
import { Scene } from "./scene.ts";
import { shapes } from "./shapes/index.ts";

/** A message from the parent: what to do next. */
export interface AttackJob {
  shape: string;
  target: Target;
  short: boolean;
}

/** The message to the parent after each step. */
export type Step =
  | { step: "prepared" }
  | { step: "ran"; tally: Tally; notes: string[]; wrongs: string[] }
  | { step: "failed"; error: string };

/** The attacker's niceness: all others get the processors first. */
const politeness = 10;

function say(step: Step): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(step, undefined, undefined, () => resolve());
  });
}

async function attack({ shape: name, target, short }: AttackJob): Promise<void> {
  const scale: Scale = short ? shortScale : fullScale;
  const shape = shapes.find((one) => one.name === name)!;
  const scene = new Scene(target, scale);
  const run = await shape.prepare(scene);
  // What it took to prepare is not what the shape is judged by.
  Object.assign(scene.client.tally, { statuses: {}, faults: [], broken: {} });
  const go = once(process, "message");
  await say({ step: "prepared" });
  await go;
  await run();
  const { tally } = scene.client;
  scene.close();
  await say({ step: "ran", tally, notes: scene.notes, wrongs: scene.wrongs });
}

setPriority(politeness);
process.once("disconnect", () => process.exit());
process.on("message", (message) => {
  // That is waited for by the shape that is prepared.
  if (message === "go") return;
  void attack(message as AttackJob).catch((error: unknown) =>
    say({ step: "failed", error: (error as Error).stack ?? String(error) }),
  );
});
