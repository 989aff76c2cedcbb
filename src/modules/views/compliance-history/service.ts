import {
  addUpHistory,
  byClass,
  type HistoryPlan,
  type HistoryQuery,
  inSeconds,
  planHistory,
} from "../../../domain/compliance-history.ts";
import type { Org } from "../../../domain/principal.ts";
import type { Deps } from "../../kernel/deps.ts";
import { getReadableEnvironment } from "../../runtime/environments/service.ts";
import { listTurnsOfAll } from "./organization-store.ts";
import { listTurns, type TurnsRow } from "./store.ts";

type Using = Pick<Deps, "db" | "clock">;

/** Tells a history by its turns. */
function tellHistory({ unit, start_ts, end_ts, buckets }: HistoryPlan, rows: readonly TurnsRow[]) {
  const now = byClass(() => 0);
  for (const { are_now, after, count } of rows) if (are_now === 1) now[after] += count;
  const turns = rows
    .filter(({ are_now }) => are_now === 0)
    .map((row) => ({ ...row, offsets: BigInt(row.offsets) }));
  const told = addUpHistory(buckets, now, turns).map(({ from, to, times }) => ({
    from: inSeconds(from),
    to: inSeconds(to),
    ...byClass((each) => inSeconds(times[each])),
  }));
  return { now, history: { start_ts, end_ts, bucket: unit, buckets: told } };
}

/**
 * Tells for how long an environment was compliant.
 * @throws AppError not_found, invalid for a window that has too many buckets or ends before it starts.
 */
export async function readEnvironmentHistory(deps: Using, org: Org, name: string, query: HistoryQuery) {
  const plan = planHistory(query, deps.clock.now());
  const environment = await getReadableEnvironment(deps.db, org, name);
  const { history } = tellHistory(plan, await listTurns(deps.db, org.id, environment.id, plan));
  return { environment_name: environment.name, ...history };
}

/**
 * Tells the same of all environments of an organization that are not archived.
 * @throws AppError invalid for a window that has too many buckets or ends before it starts.
 */
export async function readOrganizationHistory(deps: Using, org: Org, query: HistoryQuery) {
  const plan = planHistory(query, deps.clock.now());
  const { now, history } = tellHistory(plan, await listTurnsOfAll(deps.db, org.id, plan));
  return { environment_count: Object.values(now).reduce((total, count) => total + count), ...history };
}
