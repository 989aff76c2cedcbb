import type { Database } from "../../../db/connect.ts";
import { type Change, gatherChanges, type Position } from "../../../domain/changes.ts";
import type { Deps } from "../../kernel/deps.ts";
import { readChanges } from "./read-service.ts";
import { listAuditHeads, listSilencesSince, mostEntries, type SilenceNews } from "./store.ts";

/** How often it is looked whether something was written, and again after that failed; in milliseconds. */
const looks = { usual: 250, afterFailure: 1_000 };

/** How often it is looked whether environments fell silent or were reported on again, in milliseconds. */
const silenceMs = 5_000;

/** Seconds that are looked at once more: transactions of silences end some time after the moment they bear. */
const silenceOverlap = 120;

/** Entries of the audit log that are told after a break. Of more it is only said that there are. */
const mostMissed = 10_000;

/** Who is told what changes in an organization. */
export interface Listener {
  changed(changes: readonly Change[], position: Position): void;
  /** It is not known what changed. */
  reset(position: Position): void;
}

/** An organization that somebody listens to. */
interface Feed {
  position: Position;
  listeners: Set<Listener>;
  /** Silences that were told already. */
  told: Map<string, number>;
}

/** The feeds of one database. */
class Feeds {
  readonly #deps: Pick<Deps, "db" | "clock" | "log">;
  readonly #feeds = new Map<string, Feed>();
  #isLooking = false;
  #silencesAt = 0;
  #isFailing = false;

  constructor(deps: Pick<Deps, "db" | "clock" | "log">) {
    this.#deps = deps;
  }

  /**
   * Begins to tell a listener, from where it stopped if it says so. @returns a function that ends it.
   */
  async listen(orgId: string, listener: Listener, from: Position | undefined): Promise<() => void> {
    const head = (await listAuditHeads(this.#deps.db, [orgId])).get(orgId) ?? 0;
    const feed = this.#feedOf(orgId, head);
    const held: (() => void)[] = [];
    let isTold = false;
    const late: Listener = {
      changed: (changes, position) =>
        isTold ? listener.changed(changes, position) : held.push(() => listener.changed(changes, position)),
      reset: (position) => (isTold ? listener.reset(position) : held.push(() => listener.reset(position))),
    };
    feed.listeners.add(late);
    const end = (): void => this.#end(orgId, feed, late);
    try {
      const { position } = feed;
      if (from === undefined) listener.changed([], position);
      else await this.#tellMissed(orgId, listener, { from, position, head });
    } catch (error) {
      end();
      throw error;
    }
    isTold = true;
    for (const tell of held) tell();
    return end;
  }

  #feedOf(orgId: string, head: number): Feed {
    const known = this.#feeds.get(orgId);
    if (known !== undefined) return known;
    const position = { seq: head, at: this.#deps.clock.now() };
    const feed: Feed = { position, listeners: new Set(), told: new Map() };
    this.#feeds.set(orgId, feed);
    if (!this.#isLooking) this.#lookIn(looks.usual);
    this.#isLooking = true;
    return feed;
  }

  #end(orgId: string, feed: Feed, listener: Listener): void {
    feed.listeners.delete(listener);
    if (feed.listeners.size === 0 && this.#feeds.get(orgId) === feed) this.#feeds.delete(orgId);
  }

  #lookIn(milliseconds: number): void {
    setTimeout(() => void this.#look(), milliseconds).unref();
  }

  /** Tells what happened since a listener was told last, elsewhere perhaps, where one may be a moment ahead of us. */
  async #tellMissed(
    orgId: string,
    listener: Listener,
    { from, position, head }: { from: Position; position: Position; head: number },
  ): Promise<void> {
    const isKnown = from.seq <= head && from.at <= position.at + silenceOverlap;
    if (!isKnown || position.seq - from.seq > mostMissed) return listener.reset(position);
    const window = { after: from.seq, until: position.seq };
    const [changes, silences] = await this.#deps.db.sliced(() =>
      Promise.all([
        readChanges(this.#deps, orgId, window),
        listSilencesSince(this.#deps.db, orgId, from.at - silenceOverlap),
      ]),
    );
    listener.changed(gatherChanges([...changes, ...silences.map(silenceChange)]), position);
  }

  async #look(): Promise<void> {
    try {
      await this.#tellNews();
      this.#isFailing = false;
    } catch (err) {
      // Nothing is lost: it is read from the same place the next time.
      if (!this.#isFailing) this.#deps.log.warn({ err }, "changes cannot be read, and are told later");
      this.#isFailing = true;
    }
    this.#isLooking = this.#feeds.size > 0;
    if (this.#isLooking) this.#lookIn(this.#isFailing ? looks.afterFailure : looks.usual);
  }

  async #tellNews(): Promise<void> {
    // Those that are there now: one that begins meanwhile begins at a later place than is read here.
    const feeds = [...this.#feeds];
    const heads = await listAuditHeads(
      this.#deps.db,
      feeds.map(([orgId]) => orgId),
    );
    const looksForSilences = performance.now() - this.#silencesAt >= silenceMs;
    if (looksForSilences) this.#silencesAt = performance.now();
    for (const [orgId, feed] of feeds) {
      if (feed.listeners.size === 0) continue;
      await this.#tellWritten(orgId, feed, heads.get(orgId) ?? 0);
      if (looksForSilences) await this.#tellSilences(orgId, feed);
    }
  }

  async #tellWritten(orgId: string, feed: Feed, head: number): Promise<void> {
    const { seq, at } = feed.position;
    if (head === seq) return;
    // A log that is shorter than it was is another one; one that grows faster than it is read is not read.
    if (head < seq || head - seq > mostMissed) {
      feed.position = { seq: head, at };
      for (const listener of feed.listeners) listener.reset(feed.position);
      return;
    }
    const until = Math.min(head, seq + mostEntries);
    const changes = await readChanges(this.#deps, orgId, { after: seq, until });
    feed.position = { seq: until, at: feed.position.at };
    if (changes.length > 0) for (const listener of feed.listeners) listener.changed(changes, feed.position);
  }

  async #tellSilences(orgId: string, feed: Feed): Promise<void> {
    const now = this.#deps.clock.now();
    const silences = await listSilencesSince(this.#deps.db, orgId, feed.position.at - silenceOverlap);
    const news = silences.filter((silence) => !feed.told.has(silenceKey(silence)));
    for (const silence of silences) feed.told.set(silenceKey(silence), now);
    for (const [key, at] of feed.told) if (at < now) feed.told.delete(key);
    feed.position = { seq: feed.position.seq, at: now };
    if (news.length === 0) return;
    const changes = gatherChanges(news.map(silenceChange));
    for (const listener of feed.listeners) listener.changed(changes, feed.position);
  }
}

function silenceChange({ environment_name: name }: SilenceNews): Change {
  return { topic: "environment", name, index: null };
}

function silenceKey({ environment_name, began_at, ended_at }: SilenceNews): string {
  return `${environment_name} ${began_at} ${ended_at ?? ""}`;
}

/** By database: requests for streams have none of their own, because nobody asks what they take (`beginWork` of `http/slow-requests`). */
const feedsOf = new WeakMap<Database, Feeds>();

/**
 * Tells a listener what changes in an organization until it is ended. The audit log is what is read: it has a row for every
 * write, from the same transaction, in the order of their ends and without gaps, so nothing is missed, whichever server wrote it
 * and whatever became of that server. Writers do nothing for it. While anybody listens a server asks four times a second how far the logs have
 * come, in one statement for all organizations, and reads on where one has.
 */
export function listenToChanges(
  deps: Pick<Deps, "db" | "clock" | "log">,
  orgId: string,
  listener: Listener,
  from?: Position,
): Promise<() => void> {
  const feeds = feedsOf.get(deps.db) ?? new Feeds(deps);
  feedsOf.set(deps.db, feeds);
  return feeds.listen(orgId, listener, from);
}
