import { join } from "node:path";
import { addAbortSignal } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

import { findWalArchive } from "../../../db/managed/index.ts";
import { createFileStore } from "../../../evidence/files.ts";
import { ContentDamaged, ContentMissing, type EvidenceStore } from "../../../evidence/store.ts";
import type { Deps } from "../../kernel/deps.ts";
import { listStored } from "../../process/evidence/verify-service.ts";
import {
  type EvidenceArchive,
  openPlainEvidence,
  plainEvidence,
  sealedEvidence,
} from "./evidence-archive.ts";
import { forwardingOf } from "./forwarded-service.ts";

/** A store of evidence whose contents go into an archive, too, and what brings them there. */
export interface CopiedEvidence {
  evidence: EvidenceStore;
  /** Ends within seconds; what is left is copied at the next start. */
  stop(): Promise<void>;
}

/** More than so many are not remembered one by one. */
const mostPending = 10_000;
const tryAgainMs = 10_000;
const lookAgainMs = 24 * 3_600_000;
/** How long an archive may take to forget a content that it has a part of when the server ends. */
const lastMs = 5_000;

/** Copies contents one after the other. */
class Copier {
  readonly #deps: Pick<Deps, "db" | "log" | "config">;
  readonly #from: EvidenceStore;
  readonly #stopping = new AbortController();
  readonly #pending = new Set<string>();
  /** Whether contents may be missing that are not pending: those of before the start. */
  #isBehind = true;
  #wake = (): void => {};
  #archive: EvidenceArchive | undefined;
  readonly #running: Promise<void>;

  constructor(deps: Pick<Deps, "db" | "log" | "config">, from: EvidenceStore) {
    this.#deps = deps;
    this.#from = from;
    this.#running = this.#run();
  }

  add(sha256: string): void {
    if (this.#pending.size < mostPending) this.#pending.add(sha256);
    else this.#isBehind = true;
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await Promise.race([this.#running, delay(lastMs, undefined, { ref: false })]);
  }

  /** Opens where contents go; undefined while the database has no archive. */
  async #openArchive(): Promise<EvidenceArchive | undefined> {
    const { config } = this.#deps;
    const archive = await findWalArchive(config.dataDir);
    if (archive === undefined) return undefined;
    const forwarding = forwardingOf(config);
    if (forwarding === undefined) return plainEvidence(createFileStore(archive.evidence));
    if (forwarding.encryptTo.length > 0) return sealedEvidence(forwarding.root, forwarding.encryptTo);
    const staging = join(archive.folder, "incoming");
    const store = openPlainEvidence(forwarding.root, { s3: config.backups.s3, staging });
    return store && plainEvidence(store);
  }

  async #copy(sha256: string, to: EvidenceArchive): Promise<void> {
    if (await to.has(sha256)) return;
    const { signal } = this.#stopping;
    const from = {
      open: async (wanted: string) => addAbortSignal(signal, await this.#from.open(wanted)),
    };
    try {
      await to.copy(sha256, from);
    } catch (error) {
      // Told by `waybill admin evidence verify`.
      if (!(error instanceof ContentMissing || error instanceof ContentDamaged)) throw error;
    }
  }

  async #copyAll(): Promise<void> {
    const to = (this.#archive ??= await this.#openArchive());
    if (to === undefined) return;
    if (this.#isBehind) {
      this.#isBehind = false;
      try {
        for await (const { sha256 } of listStored(this.#deps.db)) {
          // What was kept just now is not made to wait until all that is there was looked at.
          await this.#copyPending(to);
          if (this.#stopping.signal.aborted) return;
          await this.#copy(sha256, to);
        }
      } catch (error) {
        this.#isBehind = true;
        throw error;
      }
    }
    await this.#copyPending(to);
  }

  async #copyPending(to: EvidenceArchive): Promise<void> {
    for (const sha256 of this.#pending) {
      if (this.#stopping.signal.aborted) return;
      await this.#copy(sha256, to);
      this.#pending.delete(sha256);
    }
  }

  /** Waits until there is something to copy, or for a day. */
  async #rest(): Promise<void> {
    if (this.#pending.size > 0 || this.#isBehind) return;
    const woken = new Promise<boolean>((resolve) => (this.#wake = () => resolve(true)));
    const ended = new AbortController();
    const due = delay(lookAgainMs, false, { signal: ended.signal, ref: false }).catch(() => true);
    if (!(await Promise.race([woken, due]))) this.#isBehind = true;
    ended.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const isStopping = (): boolean => signal.aborted;
    for (let failing = false; !isStopping();)
      try {
        await this.#copyAll();
        failing = false;
        await this.#rest();
      } catch (err) {
        if (isStopping()) return;
        if (!failing) this.#deps.log.error({ err }, "evidence cannot be copied into the WAL archive");
        failing = true;
        await delay(tryAgainMs, undefined, { signal, ref: false }).catch(() => {});
      }
  }
}

/**
 * Has each content of a store copied into the WAL archive as soon as it is kept, and those of before when it begins. Evidence in a bucket
 * has a keeper of its own.
 */
export function copyEvidence(deps: Pick<Deps, "db" | "log" | "config" | "evidence">): CopiedEvidence {
  const { evidence, config } = deps;
  if (config.wal === undefined || config.evidence.s3 !== undefined) return { evidence, stop: async () => {} };
  const copier = new Copier(deps, evidence);
  return {
    evidence: {
      mark: evidence.mark,
      stage: async (source, limits) => {
        const staged = await evidence.stage(source, limits);
        return {
          ...staged,
          keep: async () => {
            await staged.keep();
            copier.add(staged.sha256);
          },
        };
      },
      open: (sha256) => evidence.open(sha256),
      has: (sha256) => evidence.has(sha256),
      list: (after) => evidence.list(after),
      remove: (sha256) => evidence.remove(sha256),
      probeRoom: () => evidence.probeRoom(),
      removeAbandoned: (seconds) => evidence.removeAbandoned(seconds),
    },
    stop: () => copier.stop(),
  };
}
