import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { readConfig } from "../../src/config.ts";
import type { BackupHead, ClusterFacts } from "../../src/domain/backup-format.ts";
import { coversBase } from "../../src/domain/wal.ts";
import type { FoundBackup } from "../../src/modules/maintenance/backups/folder-service.ts";
import { folderPlace, type Place } from "../../src/modules/maintenance/backups/place-service.ts";
import { neededByWal } from "../../src/modules/maintenance/wal/need-service.ts";

const life = "20261123T100000Z-0123abcd";
const day = 86_400;
const now = Date.now() / 1000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-needs-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** What is known of a physical backup that was finished so many days ago. */
function base(place: Place, daysAgo: number): FoundBackup {
  const id = randomUUID();
  const finished_at = now - daysAgo * day;
  const place_in_log = `0/${(0x10 - Math.floor(daysAgo / 2)).toString(16).toUpperCase()}000028`;
  const cluster: ClusterFacts = {
    bytes: 1,
    sha256: "0".repeat(64),
    timeline: 1,
    start_lsn: place_in_log,
    end_lsn: place_in_log,
    finished_at,
  };
  return {
    file: { place, name: id },
    path: join(place.path, id),
    bytes: 1,
    head: { kind: "physical", id, life } as BackupHead,
    end: { id, cluster } as FoundBackup["end"],
  };
}

async function writeLog(archive: string, numbers: readonly number[]): Promise<void> {
  await mkdir(join(archive, "wal"), { recursive: true });
  for (const number of numbers)
    await writeFile(join(archive, "wal", `${number.toString(16).toUpperCase().padStart(24, "0")}.gz`), "");
}

const config = (more: Record<string, string> = {}) =>
  readConfig({ WAYBILL_DATA_DIR: join(folder, "data"), WAYBILL_WAL_TO: join(folder, "archive"), ...more });

describe("pruning physical backups", () => {
  it("keeps those of an archive that moments of its window are restored from, and says why", async () => {
    const archive = join(folder, "archive", life);
    await writeLog(archive, [1]);
    const place = folderPlace(join(archive, "base"));
    const [old, first, second] = [base(place, 30), base(place, 20), base(place, 3)];
    const needed = await neededByWal(place, config())([old, first, second], []);
    expect([...needed.keys()]).toEqual([first.head.id, second.head.id]);
    expect(needed.get(first.head.id)).toMatch(
      new RegExp(`^the WAL archive ${archive} needs it to restore moments since \\d{4}-`),
    );
    const short = await neededByWal(place, config({ WAYBILL_WAL_KEEP_DAYS: "1" }))([old, first, second], []);
    expect([...short.keys()]).toEqual([second.head.id]);
  });

  it("keeps encrypted ones of an archive, when they may have been finished too late", async () => {
    const archive = join(folder, "archive", life);
    await writeLog(archive, [1]);
    const place = folderPlace(join(archive, "base"));
    const sealed = (daysAgo: number) => {
      const id = randomUUID().slice(0, 8);
      return {
        file: { place, name: id },
        path: id,
        bytes: 1,
        id,
        made_at: now - daysAgo * day,
        facts: undefined,
      };
    };
    const [older, old, edge, last] = [sealed(30), sealed(20), sealed(14.5), sealed(1)];
    const needed = await neededByWal(place, config())([], [older, old, edge, last]);
    expect([...needed.keys()]).toEqual([old.id, edge.id, last.id]);
  });

  it("keeps one of another folder that the archive has none for", async () => {
    const archive = join(folder, "archive", life);
    const elsewhere = folderPlace(join(folder, "by-hand"));
    const [old, inside, late] = [base(elsewhere, 30), base(elsewhere, 20), base(elsewhere, 4)];
    const asked = async (): Promise<string[]> => {
      const needed = await neededByWal(elsewhere, config())([old, inside, late], []);
      return [...needed.keys()];
    };
    expect(await asked()).toEqual([]);
    await writeLog(archive, [6, 7, 8, 9, 10, 11, 12, 13, 14]);
    expect(await asked()).toEqual([inside.head.id, late.head.id]);
    const { wal: _wal, ...without } = config();
    const nobody = await neededByWal(elsewhere, { ...without, wal: undefined })([old, inside, late], []);
    expect(nobody.size).toBe(0);
  });
});

it("an earlier backup does for a later one if no file between them is missing", () => {
  const at = (number: number) => ({
    timeline: 1,
    start_lsn: `0/${number}000028`,
    end_lsn: `0/${number}000100`,
  });
  const names = (...numbers: number[]) => numbers.map((each) => `00000001000000000000000${each}`);
  expect(coversBase(names(2, 3, 4, 5), at(2), at(5))).toBe(true);
  expect(coversBase(names(2, 3, 5), at(2), at(5))).toBe(false);
  expect(coversBase(names(3, 4, 5), at(2), at(5))).toBe(false);
  expect(coversBase(names(2, 3, 4), at(2), at(5))).toBe(false);
  expect(coversBase(names(2, 3, 4, 5), at(2), { ...at(5), timeline: 2 })).toBe(false);
});
