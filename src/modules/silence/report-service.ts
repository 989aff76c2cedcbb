import type { Tx } from "../../db/connect.ts";
import { learnedLimit, rememberGap } from "../../domain/silence.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { endSilence } from "./store.ts";

/** How an environment was reported on until now. */
interface Rhythm {
  id: string;
  created_at: Timestamp;
  last_reported_at: Timestamp | null;
  report_gaps: number[];
  silence_limit: number | null;
  learned_limit: number | null;
  is_silent: boolean;
}

/**
 * What a report adds to the rhythm of its environment, which the caller keeps with the report. One that comes after a
 * silence ends it: only that takes a statement. Needs the environment's row locked.
 */
export async function continueRhythm(
  tx: Tx,
  org: { id: string },
  rhythm: Rhythm,
  at: Timestamp,
): Promise<{ report_gaps: number[]; learned_limit: number | null }> {
  const { id, created_at, last_reported_at, report_gaps, silence_limit, learned_limit } = rhythm;
  const limit = silence_limit ?? learned_limit;
  const began_at = last_reported_at ?? created_at;
  const isTooLong = limit !== null && at - began_at > limit;
  if (isTooLong || rhythm.is_silent) await endSilence(tx, org.id, { environment_id: id, began_at, at });
  if (last_reported_at === null) return { report_gaps, learned_limit };
  const gaps = rememberGap(report_gaps, at - last_reported_at);
  return { report_gaps: gaps, learned_limit: learnedLimit(gaps) ?? null };
}
