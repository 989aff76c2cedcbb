import type { Figure, Setting } from "./measure.ts";

/** A target, and whether it was met. */
export interface Verdict {
  what: string;
  target: string;
  measured: string;
  met: boolean;
}

/** The results of a scenario. */
interface Outcome {
  figures: Figure[];
  verdicts: Verdict[];
}

/** One thing to measure on a running server. */
export interface Scenario {
  name: string;
  run(setting: Setting): Promise<Outcome>;
}

/** Computes the share of the bare server's throughput that was reached; NaN when none was measured. */
export function ratioOf({ own, bare }: Figure): number {
  return own.throughput / (bare?.throughput ?? Number.NaN);
}

/** Finds the figure of a scenario with a number of connections. @throws Error when it was not measured. */
export function figureOf(figures: Figure[], scenario: string, connections: number): Figure {
  const found = figures.find((figure) => figure.scenario === scenario && figure.connections === connections);
  if (found === undefined) throw new Error(`${scenario} was not measured at ${connections}`);
  return found;
}

/** Finds the middle one of an odd number of values. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Writes a value with as many digits as matter. */
export function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2);
}

/** Judges whether a value is at least as large as its target. */
export function atLeast(what: string, value: number, least: number, unit = ""): Verdict {
  return {
    what,
    target: `at least ${least.toLocaleString("en")}${unit}`,
    measured: `${rounded(value)}${unit}`,
    met: value >= least,
  };
}

/** Judges whether a value is below a limit; an unknown one is not. */
export function below(what: string, value: number | undefined, limit: number, unit: string): Verdict {
  return {
    what,
    target: `below ${limit.toLocaleString("en")}${unit}`,
    measured: value === undefined ? "unknown" : `${value.toFixed(value < 10 ? 2 : 0)}${unit}`,
    met: value !== undefined && value < limit,
  };
}
