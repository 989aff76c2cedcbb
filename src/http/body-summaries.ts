import type { RequestBody } from "../contract/endpoint.ts";
import { TextCache } from "../lib/text-cache.ts";

/** What an entry takes of memory, roughly, in UTF-16 units. */
const entryLength = 128;

/** Bodies of one endpoint that are remembered. */
const maxBodies = 16_384;

/** What a body amounts to. */
export interface Summary {
  summary: unknown;
}

/**
 * Remembers what the bodies of an endpoint amount to, by their SHA-256. Only of valid ones: whether bytes are valid, and
 * what they amount to, never changes.
 */
export class BodySummaries {
  readonly #known = new TextCache<Summary>(maxBodies * entryLength);

  find(digest: Buffer): Summary | undefined {
    return this.#known.get(digest.toString("base64"));
  }

  remember(digest: Buffer, summary: unknown): void {
    this.#known.set(digest.toString("base64"), { summary }, entryLength);
  }
}

/** Makes the place where the bodies of an endpoint are remembered; undefined when it asks for none. */
export function summariesOf(spec: RequestBody | undefined): BodySummaries | undefined {
  return spec?.kind === "json" && spec.summarize !== undefined ? new BodySummaries() : undefined;
}
