import type { EnvironmentSilence } from "../../contract/silence.ts";
import { invalid } from "../../domain/errors.ts";
import { usualInterval } from "../../domain/silence.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { recorded, type Scope } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import { getReadableEnvironment, lockLive, type Org } from "../environments/find-service.ts";
import { type GapRow, getSilence, listGaps, updateSilenceLimit } from "./store.ts";

interface OrgScope extends Scope {
  org: Org;
}

const shownGaps = 100;

function showGap({ began_at, noticed_at, ended_at }: GapRow, now: Timestamp) {
  const duration = Math.round(Math.max(0, (ended_at ?? now) - began_at) * 1e6) / 1e6;
  return { from: began_at, to: ended_at, noticed_at, duration };
}

/**
 * How often an environment is reported on, and whether its reporter has been silent for too long.
 * @throws AppError not_found.
 */
export async function readSilence(
  deps: Pick<Deps, "db" | "clock">,
  org: Org,
  name: string,
): Promise<EnvironmentSilence> {
  const { query } = deps.db;
  const environment = await getReadableEnvironment(query, org, name);
  const [row, gaps] = await Promise.all([
    getSilence(query, org.id, environment.id),
    listGaps(query, org.id, environment.id, shownGaps),
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
