import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { access, chmod, mkdir, readFile, readlink, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { postmasterOf } from "../../bench/processes.ts";
import { connect, type Database } from "../../src/db/connect.ts";
import { type ManagedConnection, startManagedPostgres } from "../../src/db/managed/index.ts";
import { silentLog } from "../../src/lib/log.ts";
import { createOrganizations, startOwn, withDataDir } from "../target.ts";
import { allKinds, Writer } from "../writer.ts";
import { fullSpeed, type Plan, checkWrites } from "./test-bed.ts";
import { inspect, Skipped, type Survival, emptySurvival } from "./survival.ts";
import { asUrl } from "./two-servers.ts";

/** Paths at which distributions install libfaketime. `LIBFAKETIME` names another one. */
const places = [
  process.env["LIBFAKETIME"] ?? "",
  ...["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"].map(
    (folder) => `${folder}/faketime/libfaketimeMT.so.1`,
  ),
];

async function findLibrary(): Promise<string> {
  for (const place of places)
    if (
      place !== "" &&
      (await access(place).then(
        () => true,
        () => false,
      ))
    )
      return place;
  throw new Skipped("there is no libfaketime");
}

/** Makes the environment in which programs take the time from a file. */
function fakedBy(library: string, file: string): Record<string, string> {
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    // Only what people call the time: timers go by the other one.
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    DONT_FAKE_MONOTONIC: "1",
  };
}

/** Creates a database, then starts its PostgreSQL again by the same command in another environment. */
async function startFaked(
  dataDir: string,
  env: Record<string, string>,
): Promise<{ postgres: ChildProcess; connection: ManagedConnection }> {
  const managed = await startManagedPostgres({ dataDir, log: silentLog });
  const pid = (await postmasterOf(dataDir))!;
  const program = await readlink(`/proc/${pid}/exe`);
  const args = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0").slice(1, -1);
  await managed.stop();
  const { uid, gid } = await stat(join(dataDir, "postgres"));
  const who = process.getuid?.() === 0 ? { uid, gid } : {};
  const options = { ...who, cwd: "/", env: { TZ: "UTC", LC_ALL: "C", ...env }, stdio: "ignore" as const };
  return { postgres: spawn(program, args, options), connection: managed.connection };
}

async function answers(db: Database): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const isThere = await db.pool.query("select 1").then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await sleep(50);
  }
  throw new Error("The PostgreSQL with another clock does not answer");
}

/** Lets the clocks of server and database jump together, as when the machine's clock is set. */
export function machineClockJumps(plan: Plan): Promise<Survival> {
  return withDataDir(async (dataDir) => {
    const file = join(dataDir, "faketime");
    await writeFile(file, "+0\n");
    await chmod(file, 0o644);
    const faked = fakedBy(await findLibrary(), file);
    const { postgres, connection } = await startFaked(dataDir, faked);
    const db = connect({ connection, max: 1 });
    const survival = emptySurvival();
    try {
      await answers(db);
      const folder = join(dataDir, "server");
      await mkdir(folder);
      const env = {
        ...faked,
        DATABASE_URL: asUrl(connection),
        WAYBILL_SECRET_KEY: randomBytes(32).toString("hex"),
      };
      const server = await startOwn(folder, { program: plan.program, env });
      const writer = new Writer(await createOrganizations(server.url, server.key), "written", allKinds);
      try {
        writer.start(fullSpeed);
        await writer.untilMore(20);
        const before = writer.acknowledged;
        await writeFile(file, "+36500d\n");
        await sleep(5000);
        survival.notes.push(`${writer.acknowledged - before} writes acknowledged meanwhile`);
        await writeFile(file, "+0\n");
        await writer.stop();
        survival.readyMs.push(await writer.untilWritten(180_000));
        survival.cycles = 1;
        await checkWrites({ writer, survival });
        await inspect(db, survival);
      } finally {
        writer.close();
        await server.stop();
      }
    } finally {
      await db.close();
      postgres.kill("SIGINT");
      if (postgres.exitCode === null) await once(postgres, "exit");
    }
    return survival;
  });
}
