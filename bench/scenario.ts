import type { Figure, Setting } from "./measure.ts";

/** Something that was promised, and what came out. */
export interface Verdict {
  what: string;
  target: string;
  measured: string;
  met: boolean;
}

/** What a scenario found. */
export interface Outcome {
  figures: Figure[];
  verdicts: Verdict[];
}

/** One thing to measure on a running server. */
export interface Scenario {
  name: string;
  run(setting: Setting): Promise<Outcome>;
}

/** How much of the bare server's throughput was reached; NaN when none was measured. */
export function ratioOf({ own, bare }: Figure): number {
  return own.throughput / (bare?.throughput ?? Number.NaN);
}

/** The figure of one scenario with so many connections, which must have been measured. */
export function figureOf(figures: Figure[], scenario: string, connections: number): Figure {
  const found = figures.find((figure) => figure.scenario === scenario && figure.connections === connections);
  if (found === undefined) throw new Error(`${scenario} was not measured at ${connections}`);
  return found;
}

/** At least so large. */
export function atLeast(what: string, value: number, least: number, unit = ""): Verdict {
  return {
    what,
    target: `at least ${least.toLocaleString("en")}${unit}`,
    measured: `${value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2)}${unit}`,
    met: value >= least,
  };
}

/** Less than this; what this machine does not tell is not met. */
export function below(what: string, value: number | undefined, limit: number, unit: string): Verdict {
  return {
    what,
    target: `below ${limit.toLocaleString("en")}${unit}`,
    measured: value === undefined ? "unknown" : `${value.toFixed(value < 10 ? 2 : 0)}${unit}`,
    met: value !== undefined && value < limit,
  };
}
