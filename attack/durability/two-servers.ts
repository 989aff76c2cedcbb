import { randomBytes, randomInt } from "node:crypto";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { connect } from "../../src/db/connect.ts";
import { type ManagedConnection, startManagedPostgres } from "../../src/db/managed/index.ts";
import { silentLog } from "../../src/lib/log.ts";
import type { Server } from "../../bench/processes.ts";
import { createOrganizations, startOwn, withDataDir } from "../target.ts";
import { allKinds, Writer } from "../writer.ts";
import { fullSpeed, type Plan } from "./test-bed.ts";
import { inspect, type Survival, emptySurvival } from "./survival.ts";

/** Writes a connection as a `DATABASE_URL`. */
export function asUrl({ host, port, user, database }: ManagedConnection): string {
  const url = new URL(`postgres://localhost/${database}`);
  url.port = String(port);
  url.username = user;
  url.searchParams.set("host", host);
  return url.href;
}

/** Runs a PostgreSQL that belongs to no server while `work` goes on. */
function withPostgres<T>(work: (folder: string, connection: ManagedConnection) => Promise<T>): Promise<T> {
  return withDataDir(async (dataDir) => {
    const managed = await startManagedPostgres({ dataDir, log: silentLog });
    try {
      return await work(dataDir, managed.connection);
    } finally {
      await managed.stop();
    }
  });
}

/** Writes to two servers on one database, and kills each in turn while the other goes on. */
export function killOneOfTwo(plan: Plan): Promise<Survival> {
  return withPostgres(async (folder, connection) => {
    const survival = emptySurvival();
    const env = {
      DATABASE_URL: asUrl(connection),
      WAYBILL_SECRET_KEY: randomBytes(32).toString("hex"),
      WAYBILL_EVIDENCE_DIR: join(folder, "shared-evidence"),
    };
    const dirs = [join(folder, "one"), join(folder, "other")];
    for (const dir of dirs) {
      await mkdir(dir);
      await chmod(dir, 0o755);
    }
    const start = (index: number): Promise<Server> => startOwn(dirs[index]!, { program: plan.program, env });
    const servers = [await start(0), await start(1)];
    const target = await createOrganizations(servers[0]!.url, servers[0]!.key);
    const writers = servers.map(
      ({ url }, index) => new Writer({ ...target, url }, `written-${index}`, allKinds),
    );
    try {
      for (const writer of writers) writer.start(fullSpeed);
      for (let cycle = 0; cycle < plan.cycles; cycle += 1) {
        const struck = cycle % 2;
        await writers[struck]!.untilMore(20);
        await sleep(randomInt(0, 300));
        await servers[struck]!.kill();
        await writers[struck]!.stop();
        servers[struck] = await start(struck);
        survival.readyMs.push(servers[struck].startMs);
        writers[struck]!.move(servers[struck].url);
        writers[struck]!.start(fullSpeed);
        survival.cycles += 1;
      }
      for (const writer of writers) await writer.stop();
      for (const [index, writer] of writers.entries()) {
        // Each is asked for what the other was told.
        writer.move(servers[1 - index]!.url);
        const kept = await writer.check();
        survival.acknowledged += kept.acknowledged;
        survival.lost.push(...kept.lost);
        survival.changed.push(...kept.changed);
        survival.broken.push(...new Set(writer.tally.faults));
      }
      const db = connect({ connection, max: 1 });
      await inspect(db, survival);
      await db.close();
    } finally {
      for (const writer of writers) writer.close();
      for (const server of servers) await server.stop();
    }
    return survival;
  });
}
