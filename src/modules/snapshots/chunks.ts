import type { DraftItem } from "./draft.ts";

/** What is read and judged together: what one statement and the memory for its answer can well bear. */
export const chunkLimits = { items: 500, facts: 5_000 } as const;

/** Parts items, in their order, so that flows know no more of each part than is read at once. */
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
