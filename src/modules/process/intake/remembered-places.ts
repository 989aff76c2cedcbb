import type { Timestamp } from "../../../lib/clock.ts";
import { writeJson } from "../../../lib/exact-json.ts";
import { sha256 } from "../../../lib/hash.ts";
import { TextCache } from "../../../lib/text-cache.ts";
import { mebibyte } from "../../../lib/units.ts";
import { keptByProgram } from "../../kernel/program-deps.ts";
import { isComplete } from "../compliance/case-sql.ts";
import type { ReportedRepo } from "../repos/known-sql.ts";
import type { AskedTrail, FoundRepo, FoundTrail } from "./look-store.ts";

/** What is remembered of an organization that others write to as well. */
interface Doubt {
  /** How long nothing is recalled of it, in milliseconds; and until when, as `performance.now()` says. */
  pauseMs: number;
  until: number;
}

const [trailsWeight, reposWeight, mostDoubts] = [16 * mebibyte, mebibyte, 10_000];

/** What is heavier than that would take the place of too many. */
const heaviestTrail = trailsWeight / 32;

/**
 * Of a trail that was last reported to longer ago nothing is recalled, in seconds: reports of trails that are quiet may be removed without a change
 * to the trail, and versions of rows are numbers that a database which was set back to an earlier moment gives again.
 */
const recalledFor = 60;
const [shortestPauseMs, longestPauseMs] = [1_000, 60_000];

/** Estimates of what objects take of memory without their texts, and texts without their characters, in bytes. */
const [objectWeight, textWeight] = [500, 50];

/** Estimates what a trail takes of memory, in bytes. */
function weightOf({ template, attestations, artifacts }: FoundTrail): number {
  let weight = objectWeight * (1 + attestations.length + artifacts.length) + template.length;
  for (const { name, type, target_artifacts } of attestations) {
    weight += name.length + type.length;
    for (const target of target_artifacts ?? []) weight += textWeight + target.length;
  }
  return weight;
}

/**
 * Remembers trails as this server has left them, and repos as it has found them, so that what is reported on them next can be written without
 * looking first. Whoever writes says by their versions what was taken for granted, and says here when it was not so.
 */
export class RememberedPlaces {
  readonly #trails = new TextCache<FoundTrail>(trailsWeight);
  readonly #repos = new TextCache<FoundRepo>(reposWeight);
  readonly #doubts = new TextCache<Doubt>(mostDoubts);

  /** Gives what is remembered of a trail, which may have changed. */
  trail(orgId: string, asked: AskedTrail, now: Timestamp): FoundTrail | undefined {
    if (this.#isDoubted(orgId)) return undefined;
    const found = this.#trails.get(trailKey(orgId, asked));
    // The clock may have been set, too.
    return Math.abs(now - (found?.last_modified_at ?? -Infinity)) <= recalledFor ? found : undefined;
  }

  /** Gives what is remembered of a repo that is reported to the letter as it was before; it may have changed. */
  repo(orgId: string, reported: ReportedRepo): FoundRepo | undefined {
    return this.#isDoubted(orgId) ? undefined : this.#repos.get(repoKey(orgId, reported));
  }

  /** Keeps a trail, unless it is heavy, or has so many reports that it has to be looked at in another way. */
  keepTrail(orgId: string, asked: AskedTrail, found: FoundTrail): void {
    const weight = weightOf(found);
    if (weight > heaviestTrail || !isComplete(found)) this.forgetTrail(orgId, asked);
    else this.#trails.set(trailKey(orgId, asked), found, weight);
  }

  /** For who writes to a trail in another way. */
  forgetTrail(orgId: string, asked: AskedTrail): void {
    this.#trails.delete(trailKey(orgId, asked));
  }

  keepRepo(orgId: string, reported: ReportedRepo, found: FoundRepo): void {
    this.#repos.set(repoKey(orgId, reported), found, objectWeight);
  }

  /** Says that what was recalled of an organization was still so. */
  confirm(orgId: string): void {
    this.#doubts.delete(orgId);
  }

  /**
   * Says that something that was recalled of an organization was not so any more. While others write to the same trails, recalling costs more than
   * it saves: nothing is recalled for a while, and for longer each time.
   */
  refute(orgId: string): void {
    const longer = 2 * (this.#doubts.get(orgId)?.pauseMs ?? 0);
    const pauseMs = Math.min(Math.max(longer, shortestPauseMs), longestPauseMs);
    this.#doubts.set(orgId, { pauseMs, until: performance.now() + pauseMs }, 1);
  }

  #isDoubted(orgId: string): boolean {
    return performance.now() < (this.#doubts.get(orgId)?.until ?? 0);
  }
}

/** Makes keys short, and keeps no text alive that a name was cut out of. */
function keyOf(...parts: string[]): string {
  return sha256(JSON.stringify(parts)).toString("base64");
}

function trailKey(orgId: string, { flow_name, name }: AskedTrail): string {
  return keyOf(orgId, flow_name, name);
}

function repoKey(orgId: string, reported: ReportedRepo): string {
  return keyOf(orgId, writeJson(reported));
}

/** Gives what a program's requests remember together. */
export const rememberedPlaces = keptByProgram(() => new RememberedPlaces());
