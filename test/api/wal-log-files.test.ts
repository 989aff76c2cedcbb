import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import type { ClusterFacts } from "../../src/domain/backup-format.ts";
import { segmentOf } from "../../src/domain/wal.ts";
import { folderPlace, type Place } from "../../src/modules/maintenance/backups/place-service.ts";
import { measureSince, pruneLog } from "../../src/modules/maintenance/wal/archive-service.ts";

let folder: string;
let lookedAt: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-log-files-"));
  lookedAt = [];
});
afterEach(() => rm(folder, { recursive: true }));

/** The place of a log that notes which of its files are looked at. */
function watched(): Place {
  const place = folderPlace(folder);
  return {
    ...place,
    list: () => Promise.reject(new Error("Every file is looked at")),
    find: (name) => {
      lookedAt.push(name);
      return place.find(name);
    },
  };
}

const lsn = (number: number): string => `0/${number.toString(16).toUpperCase()}000028`;
const file = (number: number): string => `${segmentOf(1, lsn(number))}.gz`;
const since = (number: number): ClusterFacts => ({
  bytes: 1,
  sha256: "0".repeat(64),
  timeline: 1,
  start_lsn: lsn(number),
  end_lsn: lsn(number),
  finished_at: 0,
});
const write = (number: number, bytes: number): Promise<void> =>
  writeFile(join(folder, file(number)), Buffer.alloc(bytes));

it("measures of the log what has come since it was measured before", async () => {
  const place = watched();
  for (const number of [1, 2, 3, 4]) await write(number, 100 * number);
  await writeFile(join(folder, "00000001.history.gz"), "x");
  expect(await measureSince(place, since(2))).toBe(700);
  expect(lookedAt.toSorted()).toEqual([file(3), file(4)]);
  await write(5, 50);
  expect(await measureSince(place, since(2))).toBe(750);
  expect(lookedAt.slice(2)).toEqual([file(5)]);
  // After another physical backup it begins anew.
  expect(await measureSince(place, since(4))).toBe(50);
  expect(await measureSince(watched(), since(2))).toBe(750);
});

it("counts nothing twice that two ask for at once", async () => {
  for (const number of [1, 2, 3]) await write(number, 100);
  const asked = [1, 2, 3].map(() => measureSince(watched(), since(1)));
  expect((await Promise.all(asked)).at(-1)).toBe(200);
  expect(await measureSince(watched(), since(1))).toBe(200);
});

it("removes outdated files by their names", async () => {
  for (const number of [1, 2, 3]) await write(number, 1);
  expect(await pruneLog(watched(), since(3))).toBe(2);
  expect([await readdir(folder), lookedAt]).toEqual([[file(3)], []]);
});
