import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { mountSmallDisk, type SmallDisk } from "../../test/support/small-disk.ts";
import { Client, emptyTally, form } from "../client.ts";
import { each, numbers } from "../scene.ts";
import { startOwn } from "../target.ts";
import { fullSpeed, type TestBed, onTestBed, type Plan, restart } from "./test-bed.ts";
import { Skipped, type Survival } from "./survival.ts";

const run = promisify(execFile);

async function statusOf(url: string, path: string): Promise<number> {
  return fetch(url + path, { signal: AbortSignal.timeout(10_000) }).then(
    (answer) => answer.status,
    () => 0,
  );
}

/**
 * Waits until a path is answered with a status.
 * @returns how long that took, in milliseconds; undefined when it took too long.
 */
async function untilStatus(
  url: string,
  path: string,
  wanted: number,
  patienceMs: number,
): Promise<number | undefined> {
  const begun = performance.now();
  while (performance.now() - begun < patienceMs) {
    if ((await statusOf(url, path)) === wanted) return performance.now() - begun;
    await sleep(50);
  }
  return undefined;
}

/** Fills the disk while pipelines write, makes room again, and waits until writes succeed. */
async function fillWhileWriting(bed: TestBed, disk: SmallDisk): Promise<void> {
  const { writer, survival, server } = bed;
  writer.start(fullSpeed);
  await writer.untilMore(20);
  disk.fill();
  // What PostgreSQL had reserved is used up first.
  const unready = await untilStatus(server.url, "/ready", 503, 20_000);
  if (unready === undefined) survival.broken.push("/ready stays 200 on a full disk");
  if ((await statusOf(server.url, "/live")) !== 200) survival.broken.push("/live fails on a full disk");
  await writer.stop();
  disk.clear();
  survival.readyMs.push(await writer.untilWritten());
  if ((await untilStatus(server.url, "/ready", 200, 20_000)) === undefined)
    survival.broken.push("/ready stays 503 though there is room again");
}

/** Starts a server on a full disk, then with room. */
async function startOnFull(bed: TestBed, disk: SmallDisk): Promise<void> {
  await bed.server.stop();
  disk.fill();
  const started = await startOwn(bed.dataDir, { program: bed.plan.program, patience: 15_000 }).catch(
    () => undefined,
  );
  bed.survival.notes.push(started === undefined ? "does not start while full" : "starts while full");
  await started?.stop();
  disk.clear();
  await restart(bed);
}

/** Fills the disk several times while pipelines write, and once before a start. */
export async function fullDisk(plan: Plan): Promise<Survival> {
  const disk = mountSmallDisk(500);
  if (disk === undefined) throw new Skipped("no file system may be mounted here");
  const hardship = async (bed: TestBed): Promise<void> => {
    for (let cycle = 0; cycle < Math.min(plan.cycles, 3); cycle += 1) {
      await fillWhileWriting(bed, disk);
      bed.survival.cycles += 1;
    }
    await startOnFull(bed, disk);
    await bed.writer.untilWritten();
  };
  try {
    return await onTestBed(plan, hardship, { parent: disk.path });
  } finally {
    disk.remove();
  }
}

async function limitFiles(pid: number, soft: number | string): Promise<void> {
  await run("prlimit", ["--pid", String(pid), `--nofile=${soft}:`]).catch(() => {
    throw new Skipped("limits of processes may not be changed here");
  });
}

async function filesOf(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** Uploads files, which needs descriptors, over existing connections. */
async function uploadMany(client: Client): Promise<void> {
  const body = form(
    { data_json: JSON.stringify({ attestation_name: "file", is_compliant: true }) },
    { attachment_file: Buffer.alloc(100_000, "evidence ") },
  );
  const path = `/attestations/${client.target.quietOrg}/written/trail/files/generic`;
  await each(numbers(40), 4, () => client.poke("POST", path, { body, timeoutMs: 20_000 }));
}

/** Takes away all free file descriptors, several times. */
export function noDescriptors(plan: Plan): Promise<Survival> {
  return onTestBed(plan, async (bed) => {
    const { pid } = bed.server;
    const client = new Client(bed.target, emptyTally());
    for (let cycle = 0; cycle < Math.min(plan.cycles, 3); cycle += 1) {
      bed.writer.start(fullSpeed);
      await uploadMany(client);
      const used = await filesOf(pid).catch(() => {
        throw new Skipped("descriptors of processes cannot be counted here");
      });
      await limitFiles(pid, used);
      await uploadMany(client);
      await sleep(1000);
      await limitFiles(pid, 20_000);
      await bed.writer.stop();
      bed.survival.readyMs.push(await bed.writer.untilWritten());
      bed.survival.cycles += 1;
    }
    client.close();
    const { statuses, faults, broken } = client.tally;
    bed.survival.broken.push(...new Set(faults));
    bed.survival.notes.push(`files: ${JSON.stringify({ ...statuses, ...broken })}`);
  });
}
