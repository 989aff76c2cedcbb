import { parseCrontab } from "graphile-worker";
import { expect, it } from "vitest";

import { readConfig } from "../config.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { backupCrews } from "./backups.ts";

const day = 86_400_000;

/** What the clock queues with these settings. */
function queued(settings: Record<string, string> = {}) {
  const config = readConfig({ WAYBILL_BACKUP_TO: "/mnt/backups", ...settings });
  const [crew] = backupCrews({ config } as Deps);
  return parseCrontab(crew?.schedule ?? "");
}

it("makes up for what was missed for as long as it is done again", () => {
  const filled = (settings?: Record<string, string>): number[] =>
    queued(settings).map(({ options }) => options.backfillPeriod / day);
  expect(filled()).toEqual([1, 7]);
  expect(filled({ WAYBILL_BACKUP_AT: "*/5 3 1 * *", WAYBILL_BACKUP_DRILL_AT: "0 4 1 */3 *" })).toEqual([
    31, 31,
  ]);
});

it("tries a backup for half an hour", () => {
  const [backup] = queued();
  let seconds = 0;
  for (let attempt = 1; attempt < backup!.options.maxAttempts!; attempt += 1) seconds += Math.exp(attempt);
  expect(seconds).toBeGreaterThan(25 * 60);
  expect(seconds).toBeLessThan(35 * 60);
});
