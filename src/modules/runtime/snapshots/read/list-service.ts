import { invalidInput } from "../../../../domain/errors.ts";
import type { Org } from "../../../../domain/principal.ts";
import {
  everything,
  type NumberRange,
  pageOfRange,
  parseInterval,
  type RangePage,
  resolveInterval,
} from "../../../../domain/snapshot/intervals.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { getReadableEnvironment } from "../../environments/service.ts";
import { type CountedRow, listCountedSnapshots, listSnapshots } from "./list-store.ts";
import { countSnapshots, findIndexAt } from "./store.ts";

/** A line of the list of snapshots. Times are Unix seconds, `duration` is in seconds. */
export interface SnapshotListItem {
  index: number;
  from: number;
  /** 0 for the latest one. */
  to: number;
  compliant: boolean;
  duration: number;
}

/** The counts of a line, where they were asked for. */
type SnapshotCounts = Omit<CountedRow, keyof SnapshotListItem>;

/** Which snapshots of an environment, and what of them. */
interface SnapshotListQuery extends RangePage {
  interval?: string | undefined;
  /** Those in force at some moment from here to there, Unix seconds. */
  start_ts?: number | undefined;
  end_ts?: number | undefined;
  include?: readonly "counts"[] | undefined;
}

const nothing: NumberRange = { first: 1, last: 0 };

/** Narrows numbers of snapshots down to those in force at some moment of a window: a lookup for each of its ends. */
async function inForce(
  { db }: Pick<Deps, "db">,
  orgId: string,
  environmentId: string,
  { first, last, start_ts, end_ts }: NumberRange & Pick<SnapshotListQuery, "start_ts" | "end_ts">,
): Promise<NumberRange> {
  const [atStart, atEnd] = await Promise.all([
    start_ts === undefined ? first : findIndexAt(db, orgId, environmentId, start_ts),
    end_ts === undefined ? last : findIndexAt(db, orgId, environmentId, end_ts),
  ]);
  return { first: Math.max(first, atStart), last: Math.min(last, atEnd) };
}

function show(row: CountedRow | Omit<CountedRow, keyof SnapshotCounts>, now: number) {
  const { index, from, to, compliant, ...counts } = row;
  const duration = Math.max(0, Math.round(((to ?? now) - from) * 1_000_000) / 1_000_000);
  return { index, from, to: to ?? 0, compliant, duration, ...counts };
}

/**
 * Lists a page of an environment's snapshots within an interval and a window of time, the newest first unless reversed
 * (contract 4.7), with the number of all of them. The latest one ends at 0 and lasts until now.
 * @throws AppError not_found for an unknown environment, invalid for what is no interval or ends before it starts.
 */
export async function readSnapshots(
  deps: Pick<Deps, "db" | "clock">,
  org: Org,
  environment: string,
  query: SnapshotListQuery,
): Promise<{ total: number; snapshots: (SnapshotListItem & Partial<SnapshotCounts>)[] }> {
  const { start_ts, end_ts, reverse } = query;
  if (start_ts !== undefined && end_ts !== undefined && start_ts > end_ts)
    throw invalidInput({
      "query.start_ts": `Input should be less than or equal to end_ts [input: ${start_ts}]`,
    });
  const { id } = await getReadableEnvironment(deps.db, org, environment);
  const interval = query.interval === undefined ? everything : parseInterval(query.interval);
  const named = resolveInterval(interval, await countSnapshots(deps.db, org.id, id)) ?? nothing;
  const { first, last } = named;
  const range = first > last ? nothing : await inForce(deps, org.id, id, { first, last, start_ts, end_ts });
  const total = Math.max(0, range.last - range.first + 1);
  if (total === 0) return { total, snapshots: [] };
  const list = query.include === undefined ? listSnapshots : listCountedSnapshots;
  const rows = await list(deps.db, org.id, id, pageOfRange(range, query));
  const now = deps.clock.now();
  return { total, snapshots: (reverse ? rows : rows.toReversed()).map((row) => show(row, now)) };
}
