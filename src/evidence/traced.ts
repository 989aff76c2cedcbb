import type { Span } from "../lib/tracing/tracing.ts";
import { ContentMissing, type EvidenceStore, type ListedContent } from "./store.ts";

/** Calls that are shown of one request or job: what goes on for long would fill the trace. */
const mostCalls = 200;

/** What calls are shown as parts of. */
class Calls {
  readonly #within: Span;
  #left = mostCalls;

  constructor(within: Span) {
    this.#within = within;
  }

  /** Begins to show a call; undefined when there were too many. @param method of the service's interface. */
  begin(method: string): Span | undefined {
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    return this.#within.child(`S3 ${method}`, {
      kind: "client",
      attributes: { "rpc.system": "aws-api", "rpc.service": "S3", "rpc.method": method },
    });
  }

  async show<T>(method: string, call: () => Promise<T>): Promise<T> {
    const span = this.begin(method);
    try {
      return await call();
    } catch (error) {
      // What is not there was asked for and answered.
      if (!(error instanceof ContentMissing)) span?.fail(error instanceof Error ? error.name : "_OTHER");
      throw error;
    } finally {
      span?.end();
    }
  }
}

/** Shows how long the bucket takes to list everything, of which there may be many pages. */
async function* listed(store: EvidenceStore, calls: Calls, after?: string): AsyncGenerator<ListedContent> {
  const span = calls.begin("ListObjectsV2");
  try {
    yield* store.list(after);
  } finally {
    span?.end();
  }
}

/** Makes a store in a bucket whose calls are shown as parts of a span. Neither keys nor the bucket's name are. */
export function traceEvidence(store: EvidenceStore, within: Span): EvidenceStore {
  const calls = new Calls(within);
  return {
    mark: store.mark,
    stage: async (source, limits) => {
      const staged = await store.stage(source, limits);
      return { ...staged, keep: () => calls.show("PutObject", () => staged.keep()) };
    },
    open: (sha256) => calls.show("GetObject", () => store.open(sha256)),
    has: (sha256) => calls.show("HeadObject", () => store.has(sha256)),
    list: (after) => listed(store, calls, after),
    remove: (sha256) => calls.show("DeleteObject", () => store.remove(sha256)),
    probeRoom: () => store.probeRoom(),
    removeAbandoned: (seconds) => store.removeAbandoned(seconds),
  };
}
