import type { Database } from "../../../../db/connect.ts";
import { listDecisions } from "./store.ts";

/** Bytes of texts that are remembered for one answer. */
const maxBytes = 2 * 1024 * 1024;

/**
 * The decisions of policies on the artifacts of an environment, while one answer is made: nearly all share a few texts,
 * but each may have one of its own.
 */
export class DecisionBook<T extends object> {
  readonly #db: Database;
  readonly #orgId: string;
  readonly #environmentId: string;
  readonly #read: (decisions: string) => T;
  readonly #known = new Map<string, T>();
  #bytes = 0;

  /** @param read makes of the text what the answer needs of it. */
  constructor(
    db: Database,
    orgId: string,
    { environment_id }: { environment_id: string },
    read: (decisions: string) => T,
  ) {
    this.#db = db;
    this.#orgId = orgId;
    this.#environmentId = environment_id;
    this.#read = read;
  }

  /** Reads what was decided on each of these rows, in their order, some at a time. */
  async *of<Row extends { decisions_digest: string }>(rows: readonly Row[]): AsyncGenerator<[Row, T][]> {
    for (let rest = rows; rest.length > 0;) {
      let decided = this.#knownOf(rest);
      if (decided.length === 0) {
        await this.#load(rest);
        decided = this.#knownOf(rest);
      }
      yield decided;
      rest = rest.slice(decided.length);
    }
  }

  /** Takes the first rows, as far as it is known what was decided on them. */
  #knownOf<Row extends { decisions_digest: string }>(rows: readonly Row[]): [Row, T][] {
    const decided: [Row, T][] = [];
    for (const row of rows) {
      const decisions = this.#known.get(row.decisions_digest);
      if (decisions === undefined) break;
      decided.push([row, decisions]);
    }
    return decided;
  }

  async #load(rows: readonly { decisions_digest: string }[]): Promise<void> {
    const digests = [...new Set(rows.map(({ decisions_digest }) => decisions_digest))];
    const missing = digests.filter((digest) => !this.#known.has(digest));
    if (this.#bytes > maxBytes) {
      this.#known.clear();
      this.#bytes = 0;
    }
    for (const { digest, decisions } of await listDecisions(
      this.#db,
      this.#orgId,
      this.#environmentId,
      missing,
    )) {
      this.#known.set(digest, this.#read(decisions));
      this.#bytes += decisions.length;
    }
  }
}
