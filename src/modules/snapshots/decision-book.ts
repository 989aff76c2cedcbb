import type { Database } from "../../db/connect.ts";
import { listDecisions } from "./read-store.ts";

/** What is remembered for one answer, in bytes of the texts. */
const maxBytes = 2 * 1024 * 1024;

/**
 * What policies decided on the artifacts of an environment, while one answer is made: nearly all share a few texts, but
 * each may have one of its own.
 */
export class DecisionBook<T> {
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

  /** Each of these rows, in their order, with what was decided on it. */
  async *of<Row extends { decisions_digest: string }>(rows: readonly Row[]): AsyncGenerator<[Row, T][]> {
    for (let from = 0; from < rows.length;) {
      if (!this.#known.has(rows[from]!.decisions_digest)) await this.#load(rows.slice(from));
      const missing = rows.findIndex((row, at) => at >= from && !this.#known.has(row.decisions_digest));
      const to = missing === -1 ? rows.length : missing;
      yield rows.slice(from, to).map((row) => [row, this.#known.get(row.decisions_digest)!]);
      from = to;
    }
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
