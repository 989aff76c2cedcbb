/** Tags of environments, flows, repos and controls: a flat map of text to text. */
export type Tags = Record<string, string>;

/** Limits of the tags of one resource, in characters and in number. */
export const tagLimits = { keyLength: 128, valueLength: 1024, tagsPerResource: 100 } as const;

/** A filter by tags: any of these keys whatever their value, or any of these keys with this value. */
export interface TagFilter {
  keys: string[];
  pairs: [key: string, value: string][];
}

/**
 * Reads the values of a repeated `tag` parameter. A key cannot contain a colon, so the first one starts the value,
 * which may be empty and contain more of them. An empty text asks for the empty key, which no tag has.
 */
export function parseTagFilter(texts: readonly string[]): TagFilter {
  const filter: TagFilter = { keys: [], pairs: [] };
  for (const text of texts) {
    const colon = text.indexOf(":");
    if (colon === -1) filter.keys.push(text);
    else filter.pairs.push([text.slice(0, colon), text.slice(colon + 1)]);
  }
  return filter;
}

/** How many tags are offered to choose from. */
export const tagChoiceLimits = { keys: 200, valuesOfKey: 100 } as const;

/** Kinds of resource that carry tags. */
export type TaggedKind = "environment" | "flow" | "repo" | "control";

const kinds = new Map<string, TaggedKind>([
  ["env", "environment"],
  ["environment", "environment"],
  ["environments", "environment"],
  ["flow", "flow"],
  ["flows", "flow"],
  ["repo", "repo"],
  ["repos", "repo"],
  ["control", "control"],
  ["controls", "control"],
]);

/** Every spelling of a kind that URLs may use. */
export const taggedKindSpellings = [...kinds.keys()];

/** Finds the kind that a URL segment means; undefined when it means none. */
export function taggedKind(spelling: string): TaggedKind | undefined {
  return kinds.get(spelling);
}
