import type { DraftItem } from "./draft.ts";

/** Most that is read and judged together: one statement and the memory for its answer can well bear it. */
export const chunkLimits = { items: 500, facts: 5_000 } as const;

/** Divides items, in their order, so that flows know no more of each chunk than is read at once. */
export function* chunksOf(
  items: readonly DraftItem[],
  flows: ReadonlyMap<string, number>,
): Generator<DraftItem[]> {
  let [chunk, facts]: [DraftItem[], number] = [[], 0];
  for (const item of items) {
    const more = item.running === undefined ? 0 : (flows.get(item.fingerprint) ?? 0);
    if (chunk.length === chunkLimits.items || (chunk.length > 0 && facts + more > chunkLimits.facts)) {
      yield chunk;
      [chunk, facts] = [[], 0];
    }
    chunk.push(item);
    facts += more;
  }
  if (chunk.length > 0) yield chunk;
}
