import { inSeconds } from "../../../domain/compliance-history.ts";
import { planStatistics, type StatisticsUnit } from "../../../domain/flow-statistics.ts";
import type { Org } from "../../../domain/principal.ts";
import type { TimeWindow } from "../../../domain/time-window.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { getFlowId } from "./service.ts";
import { type CountedUnit, type FlowStatisticsRow, readFlowStatistics } from "./statistics-store.ts";

/** Which part of a flow's history statistics are asked of. */
export interface StatisticsQuestion {
  start_ts?: Timestamp | undefined;
  end_ts?: Timestamp | undefined;
  bucket: StatisticsUnit;
}

/** A part of the window, with the trails that began in it. */
interface ToldBucket extends Omit<CountedUnit, "began"> {
  from: Timestamp;
  to: Timestamp;
}

/** What became of the trails of a flow that began in a window. */
export interface FlowStatistics extends Omit<FlowStatisticsRow, "units">, TimeWindow {
  bucket: StatisticsUnit;
  buckets: ToldBucket[];
}

const noTrails: Omit<CountedUnit, "began"> = {
  compliant: 0,
  non_compliant: 0,
  incomplete: 0,
  seconds_to_compliant: { trail_count: 0, p50: null, p90: null },
};

/**
 * Tells what became of the trails of a flow, by its name or former name, in every part of a window, also where there are none.
 * @throws AppError not_found; invalid for a window that cannot be.
 */
export async function getFlowStatistics(
  deps: Pick<Deps, "db" | "clock">,
  org: Org,
  name: string,
  asked: StatisticsQuestion,
): Promise<FlowStatistics> {
  const { start_ts, end_ts, unit, buckets } = planStatistics(asked, deps.clock.now());
  const flowId = await getFlowId(deps.db, org, name);
  const { units, ...counted } = await readFlowStatistics(deps.db, org.id, flowId, { start_ts, end_ts, unit });
  const found = new Map(units.map(({ began, ...trails }) => [began, trails]));
  return {
    ...counted,
    start_ts,
    end_ts,
    bucket: unit,
    buckets: buckets.map(({ from, to, began }) => ({
      from: inSeconds(from),
      to: inSeconds(to),
      ...(found.get(began) ?? noTrails),
    })),
  };
}
