import { percent } from "./compliance-history.ts";

/** Rounds up to a number that people count by: 1, 2 or 5 and zeros; 1 at least. */
export function niceTop(most: number): number {
  if (most <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= most) ?? 10 * power;
}

/** A bar that stands on others, from the bottom up; heights are in pixels. */
export interface StackedPart {
  series: number;
  y: number;
  height: number;
}

/**
 * Stacks values on each other, the first at the bottom. What is there is seen: one pixel high at least, if there is room.
 * @param top value that the whole height stands for.
 */
export function stack(values: readonly number[], top: number, height: number): StackedPart[] {
  let y = height;
  const parts: StackedPart[] = [];
  for (const [series, value] of values.entries()) {
    if (value <= 0) continue;
    const high = Math.min(y, Math.max(1, (value / top) * height));
    y -= high;
    parts.push({ series, y, height: high });
  }
  return parts;
}

/** Chooses which of so many bars have their name below them: the first, the last and some between, so that they do not touch. */
export function labelled(count: number, width: number, room: number): number[] {
  if (count <= 1) return count === 1 ? [0] : [];
  const most = Math.max(2, Math.floor(width / room));
  const step = Math.max(1, Math.ceil((count - 1) / (most - 1)));
  const shown = Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step);
  return shown;
}

/** Writes a part of a whole in percent; nothing of nothing is 0 %. What is not all is never written as all, nor what is something as nothing. */
export function percentOf(part: number, whole: number): string {
  return percent(whole === 0 ? 0 : part / whole);
}
