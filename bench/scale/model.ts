/** A figure at a number of builds. */
export interface Point {
  builds: number;
  value: number;
}

/** How a figure grows: on a straight line. */
export interface Line {
  /** Of no builds. */
  base: number;
  /** For each build. */
  each: number;
}

/** Finds the straight line that lies nearest to the points, by least squares. @throws RangeError for fewer than two sizes. */
export function lineThrough(points: readonly Point[]): Line {
  const mean = (values: number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
  const x = mean(points.map(({ builds }) => builds));
  const y = mean(points.map(({ value }) => value));
  const spread = points.reduce((sum, { builds }) => sum + (builds - x) ** 2, 0);
  if (spread === 0) throw new RangeError("A line needs two sizes");
  const each = points.reduce((sum, { builds, value }) => sum + (builds - x) * (value - y), 0) / spread;
  return { base: y - each * x, each };
}

/** Reads a figure off a line. */
export function at({ base, each }: Line, builds: number): number {
  return base + each * builds;
}

/** A figure that was predicted, and what it was. */
export interface Prediction {
  figure: string;
  predicted: number;
  measured: number;
  /** By what share of the measured value the prediction is off. */
  off: number;
  failed: boolean;
}

/** By how much a prediction may be off. */
const most = 0.3;

/** Predicts the figures of the largest size from all others. Figures that are not known at every size are left out. */
export function predict(sizes: readonly { builds: number; figures: Record<string, number> }[]): Prediction[] {
  const sorted = [...sizes].sort((a, b) => a.builds - b.builds);
  const last = sorted.pop();
  if (last === undefined) return [];
  return Object.entries(last.figures).flatMap(([figure, measured]) => {
    const points = sorted.flatMap(({ builds, figures }) => {
      const value = figures[figure];
      return value === undefined ? [] : [{ builds, value }];
    });
    if (points.length < sorted.length || points.length < 2) return [];
    const predicted = at(lineThrough(points), last.builds);
    const off =
      measured === 0 ? (predicted === 0 ? 0 : Infinity) : Math.abs(predicted - measured) / Math.abs(measured);
    return [{ figure, predicted, measured, off, failed: off > most }];
  });
}
