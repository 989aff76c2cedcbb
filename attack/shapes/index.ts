import type { Shape } from "../scene.ts";
import { bodyShapes } from "./bodies.ts";
import { connectionShapes } from "./connections.ts";
import { edgeShapes } from "./edge.ts";
import { policyShapes } from "./policies.ts";
import { processShapes } from "./process.ts";
import { readingShapes } from "./reads.ts";

const single: Shape[] = [
  ...policyShapes,
  ...readingShapes,
  ...processShapes,
  ...bodyShapes,
  ...connectionShapes,
  ...edgeShapes.filter(({ settings }) => settings === undefined),
];

/** Names of the shapes that are run all at once, one of each kind. */
const together = [
  "report-rules",
  "explain",
  "yaml",
  "json-bodies",
  "stalled-webhooks",
  "deaf-readers",
  "downloads",
  "search",
];

const everything: Shape = {
  name: "all-at-once",
  what: `at the same time: ${together.join(", ")}`,
  peakLimit: 1000,
  // Two thousand connections that come within a second, one of which is accepted in each round of the event loop.
  waitLimit: 5000,
  long: true,
  prepare: async (scene) => {
    const runs: (() => Promise<void>)[] = [];
    for (const name of together) runs.push(await single.find((shape) => shape.name === name)!.prepare(scene));
    return async () => {
      await Promise.all(runs.map((run) => run()));
    };
  },
};

/** All shapes. Those that need a server of other settings come last. */
export const shapes: Shape[] = [
  ...single,
  everything,
  ...edgeShapes.filter(({ settings }) => settings !== undefined),
];
