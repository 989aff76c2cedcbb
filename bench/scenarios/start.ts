import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startServer } from "../processes.ts";
import { below, median, type Verdict } from "../scenario.ts";

const times = 3;

async function startMs(dataDir: string): Promise<number> {
  const server = await startServer(dataDir);
  await server.stop();
  return server.startMs;
}

async function coldStartMs(): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), "waybill-bench-cold-"));
  try {
    await chmod(dataDir, 0o755);
    return await startMs(dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Measures the start until ready, with no data and with all of it: the median of several. */
export async function measureStart(dataDir: string): Promise<Verdict[]> {
  const cold: number[] = [];
  const warm: number[] = [];
  for (let time = 0; time < times; time += 1) {
    cold.push(await coldStartMs());
    warm.push(await startMs(dataDir));
  }
  return [
    below("start with no data, to /ready", median(cold) / 1000, 3, " s"),
    below("start with all data, to /ready", median(warm) / 1000, 1, " s"),
  ];
}
