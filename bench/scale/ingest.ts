import { setTimeout as sleep } from "node:timers/promises";

import type { Database } from "../../src/db/connect.ts";
import { measureAlone, runPacedLoad, type Setting } from "../measure.ts";
import type { PacedResult } from "../paced-load.ts";
import { scaleOrg } from "./seed.ts";

/** How long reports took that were sent within a second, in milliseconds. */
interface Second {
  reports: number;
  p50: number;
  p99: number;
}

/** What reporting for a while came to. */
export interface IngestFigures {
  /** Reports a second: what 64 connections bring about, and what was sent, half as many. */
  most: number;
  rate: number;
  seconds: Second[];
  /** Of all seconds together. */
  p50: number;
  p99: number;
  failed: number;
  /** Whether both happened meanwhile. */
  checkpoint: boolean;
  autovacuum: boolean;
}

const table = "attestations";

/** Finds the time that so large a share of all took at most. */
export function percentile(times: number[], share: number): number {
  const sorted = Float64Array.from(times).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

let sending = 0;

/** Sends reports at a rate, whatever the answers do, and keeps how long each took by the second it was due in. */
export function sendAtRate(
  { url, key }: Pick<Setting, "url" | "key">,
  { rate, seconds, stop }: { rate: number; seconds: number; stop?: AbortSignal },
): Promise<PacedResult> {
  sending += 1;
  const reports = { kind: "attestation" as const, seed: `paced ${Date.now()} ${sending}` };
  const path = `/api/v2/attestations/${scaleOrg}`;
  return runPacedLoad({ url: url + path, key, seconds, reports, rate }, stop);
}

async function countEvents(db: Database): Promise<{ checkpoints: number; autovacuums: number }> {
  const { rows } = await db.pool.query<{ checkpoints: string; autovacuums: string }>(
    `select (select num_requested + num_timed from pg_stat_checkpointer) as checkpoints,
       (select sum(autovacuum_count) from pg_stat_user_tables where relname = $1 or relname like $1 || '\\_%') as autovacuums`,
    [table],
  );
  return { checkpoints: Number(rows[0]!.checkpoints), autovacuums: Number(rows[0]!.autovacuums) };
}

/** Has autovacuum come soon after some reports, as it otherwise does after months, and a checkpoint in the middle. */
async function provoke(db: Database, seconds: number): Promise<void> {
  await db.pool.query(
    `alter table ${table} set (autovacuum_vacuum_insert_threshold = 100, autovacuum_vacuum_insert_scale_factor = 0)`,
  );
  await db.pool.query("alter system set autovacuum_naptime = '5s'");
  await db.pool.query("select pg_reload_conf()");
  await sleep((seconds * 1000) / 3);
  await db.pool.query("checkpoint");
}

async function calmDown(db: Database): Promise<void> {
  await db.pool.query(
    `alter table ${table} set (autovacuum_vacuum_insert_threshold = 1000, autovacuum_vacuum_insert_scale_factor = 0.5)`,
  );
  await db.pool.query("alter system reset autovacuum_naptime");
  await db.pool.query("select pg_reload_conf()");
}

/** Reports at half of what the server takes, through a checkpoint and an autovacuum. */
export async function measureIngest(db: Database, setting: Setting, seconds: number): Promise<IngestFigures> {
  const subject = {
    scenario: "reports",
    path: `/api/v2/attestations/${scaleOrg}`,
    report: "attestation",
  } as const;
  const [full] = await measureAlone(setting, subject, [64]);
  const most = full!.own.throughput;
  const rate = Math.floor(most / 2);
  const before = await countEvents(db);
  const [{ times, failed }] = await Promise.all([
    sendAtRate(setting, { rate, seconds }),
    provoke(db, seconds),
  ]);
  await sleep(6000);
  const after = await countEvents(db);
  await calmDown(db);
  const all = times.flat();
  return {
    most,
    rate,
    seconds: times.map((second) => ({
      reports: second.length,
      p50: percentile(second, 0.5),
      p99: percentile(second, 0.99),
    })),
    p50: percentile(all, 0.5),
    p99: percentile(all, 0.99),
    failed,
    checkpoint: after.checkpoints > before.checkpoints,
    autovacuum: after.autovacuums > before.autovacuums,
  };
}
