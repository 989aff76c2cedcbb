import { Gauge } from "prom-client";

import { keyExpiryDays } from "../../../domain/health.ts";
import { readDisk } from "../../../lib/disk.ts";
import { askedSoon, showGauge } from "../../kernel/metrics.ts";
import type { Deps } from "../../kernel/deps.ts";
import { countSilentEnvironments } from "../../runtime/silence/watch-service.ts";
import { countExpiringKeys, listTableSizes } from "./figures-store.ts";
import { countPendingMigrations, readPoolUse } from "./service.ts";

type Registered = Pick<Deps, "metrics">;

/** Makes a gauge with a label, which is set anew whenever somebody looks. */
function showByLabel(
  { metrics }: Registered,
  { name, help, label }: { name: string; help: string; label: string },
  read: () => Promise<ReadonlyMap<string, number>>,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [metrics.registry],
    collect: async () => {
      const values = await read();
      gauge.reset();
      for (const [value, figure] of values) gauge.set({ [label]: value }, figure);
    },
  });
}

/** Asks at most every so often: what was answered last stands meanwhile, and while there is no answer. */
function seldom<T>(everyMs: number, ask: () => Promise<T>, before: T): () => Promise<T> {
  let last = before;
  let nextAt = 0;
  return async () => {
    if (performance.now() < nextAt) return last;
    nextAt = performance.now() + everyMs;
    last = (await askedSoon(ask)) ?? last;
    return last;
  };
}

function showPool(deps: Deps): void {
  const figures = [
    ["max", "Connections to the database that transactions and longer statements may have"],
    ["used", "Connections to the database that are in use"],
    ["waiting", "Callers in this server that wait for a connection to the database"],
  ] as const;
  for (const [which, help] of figures)
    showGauge(deps.metrics, { name: `waybill_database_pool_${which}`, help }, () => readPoolUse(deps)[which]);
}

function showDisks(deps: Deps): void {
  const folders = { data: deps.config.dataDir, evidence: deps.config.evidence.dir };
  const figures = [
    ["free", "Bytes that are free on the disks of data and evidence"],
    ["size", "Bytes that the disks of data and evidence have"],
  ] as const;
  for (const [which, help] of figures)
    showByLabel(deps, { name: `waybill_disk_${which}_bytes`, help, label: "of" }, async () => {
      const found = await Promise.all(
        Object.entries(folders).map(async ([of, folder]): Promise<[string, number]> => {
          const disk = await askedSoon(() => readDisk(folder));
          return [of, disk?.[which] ?? Number.NaN];
        }),
      );
      return new Map(found);
    });
}

const hourMs = 3_600_000;
const fewMinutesMs = 300_000;
const minuteMs = 60_000;

/** Shows what changes slowly and takes a look at all of the database. One server of many does, as background work is done by one. */
function showSlowFigures(deps: Deps): void {
  const sizes = seldom(hourMs, async () => new Map(await listTableSizes(deps.db)), new Map<string, number>());
  showByLabel(
    deps,
    {
      name: "waybill_table_bytes",
      help: "Bytes of each table with its indexes and partitions, read once an hour",
      label: "table",
    },
    sizes,
  );
  const keys = seldom(
    fewMinutesMs,
    async () => new Map(await countExpiringKeys(deps.db, deps.clock.now(), keyExpiryDays)),
    new Map<string, number>(),
  );
  showByLabel(
    deps,
    {
      name: "waybill_api_keys_expiring",
      help: "API keys that work now and will not in so many days",
      label: "days",
    },
    keys,
  );
}

/**
 * Shows how the instance stands in figures that are read whenever somebody looks. Once for a program.
 * @param migrations names of the program's own.
 */
export function showInstance(
  deps: Deps,
  { version, migrations }: { version: string; migrations: readonly string[] },
): void {
  const build = new Gauge({
    name: "waybill_build_info",
    help: "1, with the versions of the program and of Node.js",
    labelNames: ["version", "node"],
    registers: [deps.metrics.registry],
  });
  build.set({ version, node: process.versions.node }, 1);
  showPool(deps);
  showDisks(deps);
  const pending = {
    name: "waybill_migrations_pending",
    help: "Migrations of this version that the database does not have",
  };
  showGauge(
    deps.metrics,
    pending,
    async () => (await askedSoon(() => countPendingMigrations(deps, migrations))) ?? Number.NaN,
  );
  const silent = {
    name: "waybill_environments_silent",
    help: "Environments whose reporter has been silent for too long, of all organizations",
  };
  const countSilent = seldom(minuteMs, () => countSilentEnvironments(deps), Number.NaN);
  showGauge(deps.metrics, silent, countSilent);
  if (deps.config.roles.jobs) showSlowFigures(deps);
}
