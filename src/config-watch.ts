import { z } from "zod";

import { whole } from "./config-limits.ts";

/** What a server says of itself. */
export interface WatchConfig {
  /** Bearer token that may read /metrics from elsewhere than this machine, and /health. */
  metricsToken: string | undefined;
  /** Milliseconds beyond which a request is told of in the log; undefined: none is. */
  slowMs: number | undefined;
  /** Whether some counters are divided by organization. */
  metricsByOrg: boolean;
}

/** The variables that say so. */
export const watchVariables = {
  WAYBILL_METRICS_TOKEN: z.string().min(16, "must have at least 16 characters").optional(),
  WAYBILL_METRICS_BY_ORG: z.enum(["0", "1"]).optional(),
  WAYBILL_SLOW_MS: whole(0, 3_600_000).optional(),
};

const Settings = z.object(watchVariables);

const standardSlowMs = 500;

/** Reads what a server says of itself. */
export function watchConfig(set: z.output<typeof Settings>): WatchConfig {
  return {
    metricsToken: set.WAYBILL_METRICS_TOKEN,
    slowMs: (set.WAYBILL_SLOW_MS ?? standardSlowMs) || undefined,
    metricsByOrg: set.WAYBILL_METRICS_BY_ORG === "1",
  };
}
