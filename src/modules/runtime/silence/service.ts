import type { EnvironmentSilence } from "../../../contract/silence.ts";
import type { Tx } from "../../../db/connect.ts";
import { invalid } from "../../../domain/errors.ts";
import type { Org, OrgScope } from "../../../domain/principal.ts";
import { learnedLimit, rememberGap, usualInterval } from "../../../domain/silence.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { getReadableEnvironment, lockLive } from "../environments/service.ts";
import {
  endOpenSilence,
  endSilence,
  type GapRow,
  getSilence,
  listGaps,
  updateSilenceLimit,
} from "./store.ts";

const shownGaps = 100;

function showGap({ began_at, noticed_at, ended_at }: GapRow, now: Timestamp) {
  const duration = Math.round(Math.max(0, (ended_at ?? now) - began_at) * 1e6) / 1e6;
  return { from: began_at, to: ended_at, noticed_at, duration };
}

/**
 * Reads how often an environment is reported on, and whether its reporter has been silent for too long.
 * @throws AppError not_found.
 */
export async function readSilence(
  deps: Pick<Deps, "db" | "clock">,
  org: Org,
  name: string,
): Promise<EnvironmentSilence> {
  const { db } = deps;
  const environment = await getReadableEnvironment(db, org, name);
  const [row, gaps] = await Promise.all([
    getSilence(db, org.id, environment.id),
    listGaps(db, org.id, environment.id, shownGaps),
  ]);
  const now = deps.clock.now();
  const isStale = row.silent_from !== null && row.silent_from < now;
  const learned = row.learned_limit === null ? "none" : "learned";
  return {
    environment_name: environment.name,
    last_reported_at: row.last_reported_at,
    usual_interval_seconds: usualInterval(row.report_gaps) ?? null,
    limit_seconds: row.silence_limit ?? row.learned_limit,
    limit_source: row.silence_limit === null ? learned : "set",
    is_stale: isStale,
    stale_since: isStale ? row.silent_from : null,
    gaps: gaps.map((gap) => showGap(gap, now)),
  };
}

/**
 * Sets how long an environment may be silent, or leaves it to what is learned. Idempotent.
 * @throws AppError not_found, invalid for a logical environment: nobody reports to it.
 */
export async function putSilenceLimit(
  deps: Deps,
  scope: OrgScope,
  name: string,
  limit: number | null,
): Promise<void> {
  const { org } = scope;
  await recorded(deps, scope, async (tx, record) => {
    const environment = await lockLive(tx, org, name, "no key update");
    if (environment.type === "logical")
      throw invalid(`Environment '${name}' is logical: nobody reports to it, so it cannot be silent`);
    const at = deps.clock.now();
    if (await updateSilenceLimit(tx, org.id, environment.id, { limit, at }))
      record("environment", environment.name);
  });
}

/** Ends the silence of an environment that is being archived: nobody is expected to report to it. Needs its row locked. */
export function endSilenceOfArchived(
  tx: Tx,
  org: { id: string },
  archived: { environment_id: string; at: Timestamp },
): Promise<void> {
  return endOpenSilence(tx, org.id, archived);
}

/** The times of reports to an environment until now, and its limits. */
interface Rhythm {
  id: string;
  last_reported_at: Timestamp | null;
  /** The last report, its beginning, or when it came out of the archive. */
  quiet_since: Timestamp;
  report_gaps: number[];
  silence_limit: number | null;
  learned_limit: number | null;
  is_silent: boolean;
}

/**
 * Finds what a report adds to the rhythm of its environment, which the caller keeps with the report. One that comes after a
 * silence ends it: only that takes a statement. Needs the environment's row locked.
 */
export async function continueRhythm(
  tx: Tx,
  org: { id: string },
  rhythm: Rhythm,
  at: Timestamp,
): Promise<{ report_gaps: number[]; learned_limit: number | null }> {
  const { id, last_reported_at, quiet_since: began_at, report_gaps, silence_limit, learned_limit } = rhythm;
  const limit = silence_limit ?? learned_limit;
  const isTooLong = limit !== null && at - began_at > limit;
  if (isTooLong || rhythm.is_silent) await endSilence(tx, org.id, { environment_id: id, began_at, at });
  // The first report of all ends no gap between two, and what lies between those before and after the archive is none.
  if (last_reported_at === null || last_reported_at < began_at) return { report_gaps, learned_limit };
  const gaps = rememberGap(report_gaps, at - last_reported_at);
  return { report_gaps: gaps, learned_limit: learnedLimit(gaps) ?? null };
}
