/** A text read as JSON: an object or a list, or why it is neither. */
export type ReadJson = { value: Record<string, unknown> | unknown[] } | { wrong: string };

/** Reads JSON that somebody has written: an object or a list. */
export function readJson(text: string): ReadJson {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return { value };
    if (typeof value === "object" && value !== null) return { value: { ...value } };
    return { wrong: "This has to be an object or a list" };
  } catch (error) {
    return { wrong: error instanceof Error ? `This is no JSON: ${error.message}` : "This is no JSON" };
  }
}

/** Shows a value as people read it: texts as they are, anything else as JSON. @param value out of JSON. */
export function shownValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
