/**
 * Parses a URL; undefined for a text that is none. `URL.canParse` is no substitute: once Node 20 has optimized a call
 * of it, it denies hosts with letters beyond ASCII.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
