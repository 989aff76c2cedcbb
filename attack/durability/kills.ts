import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { launchServer } from "../../bench/processes.ts";
import { killPostgres, settle, startOwn, withDataDir } from "../target.ts";
import { everything, Writer } from "../writer.ts";
import { busily, type Ground, onGround, type Plan, restart, settleWrites } from "./ground.ts";
import { inspectManaged, type Survival, untouched } from "./survival.ts";

/** Strikes while pipelines write, and waits until the server is back; as often as planned. */
function underWrites(strike: (ground: Ground, cycle: number) => Promise<void>) {
  return (plan: Plan): Promise<Survival> =>
    onGround(plan, async (ground) => {
      for (let cycle = 0; cycle < plan.cycles; cycle += 1) {
        ground.writer.start(busily);
        await ground.writer.untilMore(20);
        await sleep(randomInt(0, 300));
        await strike(ground, cycle);
        await ground.writer.stop();
        ground.survival.cycles += 1;
      }
    });
}

/** The server alone. */
export const killServer = underWrites(async (ground) => {
  await ground.server.kill();
  await ground.writer.stop();
  await restart(ground);
});

/** PostgreSQL alone: the server starts it again. */
export const killDatabase = underWrites(async (ground) => {
  await killPostgres(ground.dataDir, "SIGKILL");
  await ground.writer.stop();
  ground.survival.readyMs.push(await ground.writer.untilWritten());
});

/** Both, in either order. */
export const killBoth = underWrites(async (ground, cycle) => {
  if (cycle % 2 === 0) await killPostgres(ground.dataDir, "SIGKILL");
  await ground.server.kill();
  if (cycle % 2 === 1) await killPostgres(ground.dataDir, "SIGKILL");
  await ground.writer.stop();
  await restart(ground);
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

/** During a start on data that are there, three times before each that may end. */
export function killStart(plan: Plan): Promise<Survival> {
  return onGround(plan, async (ground) => {
    const usual = ground.server.startMs;
    for (let cycle = 0; cycle < plan.cycles; cycle += 1) {
      ground.writer.start(busily);
      await ground.writer.untilMore(20);
      await ground.server.kill();
      await ground.writer.stop();
      for (let time = 0; time < 3; time += 1) await killStarting(ground.dataDir, plan, usual, cycle + time);
      await restart(ground);
      ground.survival.cycles += 1;
    }
  });
}

/** During the first start: while the database is made, while it is migrated, while the first key is written. */
export async function killFirstStart(plan: Plan): Promise<Survival> {
  const survival = untouched();
  for (let cycle = 0; cycle < plan.cycles; cycle += 1)
    await withDataDir(async (dataDir) => {
      // Spread over the whole of it: a first start takes some seconds.
      const latest = 500 + (4000 * (cycle + 1)) / plan.cycles;
      await killStarting(dataDir, plan, latest, cycle);
      const server = await startOwn(dataDir, plan);
      survival.readyMs.push(server.startMs);
      const target = await settle(server.url, server.key);
      const writer = new Writer(target, "written", everything);
      await writer.untilWritten();
      await settleWrites({ writer, survival });
      const after = untouched();
      await inspectManaged(dataDir, after);
      survival.gaps += after.gaps;
      writer.close();
      await server.stop();
      survival.cycles += 1;
    });
  return survival;
}
