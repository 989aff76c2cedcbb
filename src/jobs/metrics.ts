import { Gauge } from "prom-client";

import type { Deps } from "../modules/kernel/deps.ts";
import { askedSoon } from "../modules/kernel/metrics.ts";
import { type PartitionState, readPartitionStates } from "../modules/maintenance/partitions/service.ts";
import { type LastSuccess, listLastSuccesses } from "../modules/maintenance/backups/overview-service.ts";
import { countStopped } from "./stopped-store.ts";

/** Shows how many background jobs are tried no more, counted whenever somebody looks. Once for a program. */
export function showStoppedJobs(deps: Pick<Deps, "db" | "metrics">): void {
  const gauge: Gauge<"reason"> = new Gauge({
    name: "waybill_jobs_stopped",
    help: "Background jobs that are tried no more, of all servers on the database: set aside because servers ended while they ran, or failed for good",
    labelNames: ["reason"],
    registers: [deps.metrics.registry],
    collect: async () => {
      const count = await askedSoon(() => countStopped(deps.db));
      gauge.set({ reason: "set_aside" }, count?.set_aside ?? Number.NaN);
      gauge.set({ reason: "failed" }, count?.failed ?? Number.NaN);
    },
  });
}

const partitionFigures = [
  {
    name: "waybill_partition_strays",
    help: "Rows of a partitioned table that no partition of a month was made for, counted up to 1000: there should be none",
    valueOf: ({ strays }: PartitionState) => strays,
  },
  {
    name: "waybill_partition_months_ahead",
    help: "How many months from now on a partitioned table has partitions for",
    valueOf: ({ ahead }: PartitionState) => ahead,
  },
];

/** Shows whether partitioned tables have partitions for what comes, read whenever somebody looks. Once for a program. */
export function showPartitions(deps: Pick<Deps, "db" | "clock" | "metrics">): void {
  let reading: Promise<PartitionState[] | undefined> | undefined;
  // Both figures are asked for at a time, and share an answer.
  const read = (): Promise<PartitionState[] | undefined> =>
    (reading ??= askedSoon(() => readPartitionStates(deps)).finally(() => (reading = undefined)));
  for (const { name, help, valueOf } of partitionFigures) {
    const gauge: Gauge<"table"> = new Gauge({
      name,
      help,
      labelNames: ["table"],
      registers: [deps.metrics.registry],
      collect: async () => {
        const states = (await read()) ?? [];
        for (const state of states) gauge.set({ table: state.table }, valueOf(state));
      },
    });
  }
}

const backupFigures = [
  {
    name: "waybill_backup_last_success_timestamp_seconds",
    help: "When the last backup that succeeded was complete, whoever made it",
    kind: "backup",
    valueOf: ({ ended_at }: LastSuccess) => ended_at,
  },
  {
    name: "waybill_backup_duration_seconds",
    help: "How long the last backup that succeeded took",
    kind: "backup",
    valueOf: ({ started_at, ended_at }: LastSuccess) => ended_at && ended_at - started_at,
  },
  {
    name: "waybill_backup_bytes",
    help: "Bytes of the file of the last backup that succeeded",
    kind: "backup",
    valueOf: ({ bytes }: LastSuccess) => bytes,
  },
  {
    name: "waybill_restore_drill_last_success_timestamp_seconds",
    help: "When a backup was last restored beside, and found right",
    kind: "restore_drill",
    valueOf: ({ ended_at }: LastSuccess) => ended_at,
  },
];

/**
 * Shows the last backup and drill that succeeded, read from the database whenever somebody looks, so that all servers show the same;
 * nothing where there is none. Once for a program.
 */
export function showBackups(deps: Pick<Deps, "db" | "metrics">): void {
  let reading: Promise<LastSuccess[] | undefined> | undefined;
  // All figures are asked for at a time, and share an answer.
  const read = (): Promise<LastSuccess[] | undefined> =>
    (reading ??= askedSoon(() => listLastSuccesses(deps.db)).finally(() => (reading = undefined)));
  for (const { name, help, kind, valueOf } of backupFigures) {
    const gauge = new Gauge({
      name,
      help,
      registers: [deps.metrics.registry],
      collect: async () => {
        const last = (await read())?.find((each) => each.kind === kind);
        const value = last && valueOf(last);
        if (value === undefined || value === null) gauge.remove();
        else gauge.set(value);
      },
    });
  }
}
