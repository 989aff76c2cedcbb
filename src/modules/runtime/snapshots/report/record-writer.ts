import type { Tx } from "../../../../db/connect.ts";
import { lineageText } from "../../../../domain/snapshot/flows-of.ts";
import type { LineageEntry, NewVersion, SnapshotPlan } from "../../../../domain/snapshot/versions.ts";
import { sha256 } from "../../../../lib/hash.ts";
import type { Steps } from "../../../../lib/steps.ts";
import { wideText } from "../../../../lib/wide-json.ts";
import type { Draft } from "./draft.ts";
import { insertSnapshots, type VersionEntry } from "./record-store.ts";
import type { SnapshotCause } from "./targets.ts";

/** UTF-16 units that are written in one statement, and a little more: a longer one would take long to send and to read. */
const fullLength = 1024 * 1024;

/** Writes snapshots and their versions, in as few statements as their length allows. All in one transaction. */
export class RecordWriter {
  readonly #tx: Tx;
  readonly #orgId: string;
  readonly #cause: SnapshotCause;
  #versions: string[] = [];
  #decisions: string[] = [];
  #length = 0;
  readonly #waiting = new Map<Draft, { rows: number; events: number }>();
  /** Snapshots that have all of their artifacts, as JSON text. */
  readonly #whole = new Map<Draft, string>();
  /** What was written of each environment, by digest. */
  readonly #known = new Set<string>();
  readonly #lineage = new Map<string, LineageEntry & { environment_id: string }>();

  constructor(tx: Tx, orgId: string, cause: SnapshotCause) {
    this.#tx = tx;
    this.#orgId = orgId;
    this.#cause = cause;
  }

  get isFull(): boolean {
    return this.#length >= fullLength;
  }

  /** Puts versions and lineage of a draft among what is written next. */
  *add(draft: Draft, { versions, lineage }: SnapshotPlan): Steps<void> {
    const { id: environment_id } = draft.target.environment;
    for (const version of versions) yield* this.#addVersion(draft, environment_id, version);
    for (const entry of lineage) {
      const key = `${environment_id} ${lineageText(entry)}`;
      const started = entry.started || this.#lineage.get(key)?.started === true;
      this.#lineage.set(key, { environment_id, ...entry, started });
    }
  }

  *#addVersion(
    draft: Draft,
    environment_id: string,
    { decisions, findings, ...version }: NewVersion,
  ): Steps<void> {
    const decisions_digest =
      decisions === null ? null : this.#share(environment_id, { decisions, findings: findings ?? "" });
    const row = yield* wideText({ environment_id, ...version, decisions_digest } satisfies VersionEntry);
    this.#versions.push(row);
    this.#length += row.length;
    const waiting = this.#waiting.get(draft) ?? { rows: 0, events: 0 };
    waiting.rows += 1;
    if (version.type !== "unchanged") waiting.events += 1;
    this.#waiting.set(draft, waiting);
  }

  /** Writes what policies decided, and what was found by that, once for each environment. */
  #share(environment_id: string, { decisions, findings }: { decisions: string; findings: string }): string {
    // Both are JSON, which has no bare line breaks.
    const digest = sha256(`${findings}\n${decisions}`).toString("base64");
    const key = `${environment_id} ${digest}`;
    if (this.#known.has(key)) return digest;
    this.#known.add(key);
    const row = JSON.stringify({ environment_id, digest, decisions, findings });
    this.#decisions.push(row);
    this.#length += row.length;
    return digest;
  }

  /** Puts the snapshot itself among what is written next: all of its artifacts were added. */
  *finish(draft: Draft): Steps<void> {
    const snapshot = yield* draft.conclude(this.#cause);
    this.#whole.set(draft, snapshot);
    this.#length += snapshot.length;
  }

  /** Writes what has come together. */
  async flush(): Promise<void> {
    const snapshots = [...this.#whole.values()];
    for (const draft of this.#waiting.keys())
      if (!this.#whole.has(draft)) snapshots.push(JSON.stringify(draft.opening));
    if (snapshots.length === 0) return;
    const [versions, decisions, lineage] = [this.#versions, this.#decisions, this.#takeLineage()];
    for (const [draft, { rows, events }] of this.#waiting) {
      draft.written.rows += rows;
      draft.written.events += events;
    }
    this.#versions = [];
    this.#decisions = [];
    this.#length = 0;
    this.#waiting.clear();
    this.#whole.clear();
    await insertSnapshots(this.#tx, this.#orgId, {
      snapshots: list(snapshots),
      versions: list(versions),
      decisions: list(decisions),
      lineage: list(lineage),
    });
  }

  /**
   * Takes the lineage of snapshots that are written now. It must not come earlier, because what is judged after it in
   * the same snapshot still reads what was there before.
   */
  #takeLineage(): string[] {
    const whole = new Set([...this.#whole.keys()].map(({ target }) => target.environment.id));
    const taken: string[] = [];
    for (const [key, entry] of this.#lineage) {
      if (!whole.has(entry.environment_id)) continue;
      taken.push(JSON.stringify(entry));
      this.#lineage.delete(key);
    }
    return taken;
  }
}

function list(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}
