import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { backupName } from "../../src/domain/backups.ts";
import { segmentOf } from "../../src/domain/wal.ts";
import { createLogger } from "../../src/lib/log.ts";
import { folderPlace } from "../../src/modules/maintenance/backups/place-service.ts";
import {
  readSentBases,
  type SentBase,
  writeSentBases,
} from "../../src/modules/maintenance/wal/forwarded-service.ts";
import { keepSentBase } from "../../src/modules/maintenance/wal/sent-bases-service.ts";

const day = 86_400;
const now = Math.floor(Date.now() / 1000);
const since = now - 14 * day;

/** The file of the log that was written so many days ago. */
const segmentAt = (daysAgo: number): string => segmentOf(1, lsnAt(daysAgo));
const lsnAt = (daysAgo: number): string => `0/${((100 - daysAgo) << 24).toString(16).toUpperCase()}`;

const nameAt = (daysAgo: number): string => `${backupName(now - daysAgo * day, randomUUID())}.age`;
const baseAt = (daysAgo: number): SentBase => ({
  name: nameAt(daysAgo),
  bytes: 1,
  timeline: 1,
  start_lsn: lsnAt(daysAgo),
  end_lsn: lsnAt(daysAgo),
  finished_at: now - daysAgo * day,
  sent_bytes: 0,
});

describe("physical backups of an encrypted archive", () => {
  let folder: string;
  let root: string;
  let told: string[];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "waybill-wal-bases-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    root = join(folder, randomUUID());
    told = [];
    for (const name of ["wal", "base"]) await mkdir(join(root, name), { recursive: true });
    for (const daysAgo of [40, 30, 20, 10, 0])
      await writeFile(join(root, "wal", `${segmentAt(daysAgo)}.gz.age`), "of the log");
  });

  async function put(...names: string[]): Promise<void> {
    for (const name of names) await writeFile(join(root, "base", name), "encrypted");
  }
  const log = createLogger("info", { write: (line: string) => void told.push(line) });
  async function keep(made: SentBase): Promise<number> {
    await put(made.name);
    const places = { wal: folderPlace(join(root, "wal")), base: folderPlace(join(root, "base")) };
    return keepSentBase({ log }, root, places, { made, since });
  }
  const bases = async (): Promise<string[]> => (await readdir(join(root, "base"))).sort();
  const oldest = async (): Promise<string | undefined> => (await readdir(join(root, "wal"))).sort()[0];

  it("are pruned beside one that was made in the window and never noted", async () => {
    const [first, second, made] = [baseAt(30), baseAt(20), baseAt(0)];
    const unnoted = nameAt(10);
    await put(first.name, second.name, unnoted);
    await writeSentBases(root, [first, second]);
    expect(await keep(made)).toBe(3);
    expect(await bases()).toEqual([second.name, unnoted, made.name].sort());
    expect(await oldest()).toBe(`${segmentAt(20)}.gz.age`);
    expect(await readSentBases(root)).toEqual([second, made]);
  });

  it("are removed when they are outdated, noted or not, which is told of those that are not", async () => {
    const [first, made] = [baseAt(20), baseAt(0)];
    const unnoted = nameAt(30);
    await put(first.name, unnoted);
    await writeSentBases(root, [first]);
    expect(await keep(made)).toBe(3);
    expect(await bases()).toEqual([first.name, made.name].sort());
    expect(await oldest()).toBe(`${segmentAt(20)}.gz.age`);
    expect(told.join()).toContain(unnoted);
  });

  it("keep the log that the oldest may need of which nothing is noted, until another one will do", async () => {
    const unnoted = nameAt(20);
    await put(unnoted);
    const made = baseAt(10);
    expect(await keep(made)).toBe(0);
    expect(await bases()).toEqual([unnoted, made.name].sort());
    expect(await oldest()).toBe(`${segmentAt(40)}.gz.age`);
    expect(told.join()).toContain("not noted");
    // A week later.
    await writeSentBases(root, [{ ...made, finished_at: now - 15 * day }]);
    expect(await keep(baseAt(0))).toBe(4);
    expect(await bases()).toHaveLength(2);
    expect(await oldest()).toBe(`${segmentAt(10)}.gz.age`);
  });

  it("count only while they are there", async () => {
    const [gone, first, made] = [baseAt(16), baseAt(20), baseAt(0)];
    await put(first.name);
    await writeSentBases(root, [first, gone]);
    await keep(made);
    expect(await bases()).toEqual([first.name, made.name].sort());
    expect(await oldest()).toBe(`${segmentAt(20)}.gz.age`);
  });
});
