import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { launchServer } from "../../bench/processes.ts";
import { killPostgres, createOrganizations, startOwn, withDataDir } from "../target.ts";
import { allKinds, Writer } from "../writer.ts";
import { fullSpeed, type TestBed, onTestBed, type Plan, restart, checkWrites } from "./test-bed.ts";
import { inspectManaged, type Survival, emptySurvival } from "./survival.ts";

/** Makes a hardship that strikes while pipelines write, as often as planned. */
function underWrites(strike: (bed: TestBed, cycle: number) => Promise<void>) {
  return (plan: Plan): Promise<Survival> =>
    onTestBed(plan, async (bed) => {
      for (let cycle = 0; cycle < plan.cycles; cycle += 1) {
        bed.writer.start(fullSpeed);
        await bed.writer.untilMore(20);
        await sleep(randomInt(0, 300));
        await strike(bed, cycle);
        await bed.writer.stop();
        bed.survival.cycles += 1;
      }
    });
}

/** Kills the server alone. */
export const killServer = underWrites(async (bed) => {
  await bed.server.kill();
  await bed.writer.stop();
  await restart(bed);
});

/** How often PostgreSQL may die within a minute: a server gives up after the fifth time. */
const killsInARow = 4;
const healthyMs = 61_000;

/** Kills PostgreSQL alone: the server starts it again. */
export const killDatabase = underWrites(async (bed, cycle) => {
  if (cycle > 0 && cycle % killsInARow === 0) await sleep(healthyMs);
  await killPostgres(bed.dataDir, "SIGKILL");
  await bed.writer.stop();
  bed.survival.readyMs.push(await bed.writer.untilWritten());
});

/** Kills both, in either order. */
export const killBoth = underWrites(async (bed, cycle) => {
  if (cycle % 2 === 0) await killPostgres(bed.dataDir, "SIGKILL");
  await bed.server.kill();
  if (cycle % 2 === 1) await killPostgres(bed.dataDir, "SIGKILL");
  await bed.writer.stop();
  await restart(bed);
});

/** Starts a server and kills it at some moment of its start, every second time with its PostgreSQL. */
async function killStarting(dataDir: string, plan: Plan, latestMs: number, cycle: number): Promise<void> {
  const { child } = await launchServer(dataDir, plan);
  await sleep(randomInt(0, Math.ceil(latestMs)));
  child.kill("SIGKILL");
  if (cycle % 2 === 1) await killPostgres(dataDir, "SIGKILL");
  if (child.exitCode === null && child.signalCode === null)
    await new Promise((resolve) => child.once("exit", resolve));
}

/** Kills starts on existing data, three times before each that may end. */
export function killStart(plan: Plan): Promise<Survival> {
  return onTestBed(plan, async (bed) => {
    const usual = bed.server.startMs;
    for (let cycle = 0; cycle < plan.cycles; cycle += 1) {
      bed.writer.start(fullSpeed);
      await bed.writer.untilMore(20);
      await bed.server.kill();
      await bed.writer.stop();
      for (let time = 0; time < 3; time += 1) await killStarting(bed.dataDir, plan, usual, cycle + time);
      await restart(bed);
      bed.survival.cycles += 1;
    }
  });
}

/** Kills first starts: while the database is made, while it is migrated, while the first key is written. */
export async function killFirstStart(plan: Plan): Promise<Survival> {
  const survival = emptySurvival();
  for (let cycle = 0; cycle < plan.cycles; cycle += 1)
    await withDataDir(async (dataDir) => {
      // Spread over the whole of it: a first start takes some seconds.
      const latest = 500 + (4000 * (cycle + 1)) / plan.cycles;
      await killStarting(dataDir, plan, latest, cycle);
      const server = await startOwn(dataDir, plan);
      survival.readyMs.push(server.startMs);
      const target = await createOrganizations(server.url, server.key);
      const writer = new Writer(target, "written", allKinds);
      await writer.untilWritten();
      await checkWrites({ writer, survival });
      const after = emptySurvival();
      await inspectManaged(dataDir, after);
      survival.gaps += after.gaps;
      writer.close();
      await server.stop();
      survival.cycles += 1;
    });
  return survival;
}
