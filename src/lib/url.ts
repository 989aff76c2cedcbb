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

/** Decodes what is percent-encoded in a URL. A text whose bytes are no UTF-8, or with a `%` that encodes nothing, stays as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
