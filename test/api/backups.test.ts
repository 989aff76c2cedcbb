import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { backupName } from "../../src/domain/backups.ts";
import { DamagedArchive } from "../../src/lib/tar-reader.ts";
import { openFileSink } from "../../src/modules/maintenance/backups/file-sink.ts";
import {
  findEarlierEvidence,
  listBackups,
  lookAtBackup,
  pruneBackups,
} from "../../src/modules/maintenance/backups/folder-service.ts";
import type { EvidenceChoice } from "../../src/domain/backup-format.ts";
import { type BackupVisitor, readBackup } from "../../src/modules/maintenance/backups/read-service.ts";
import { writeBackup } from "../../src/modules/maintenance/backups/write-service.ts";
import { partitionTable } from "../../src/modules/maintenance/partitions/service.ts";
import {
  findOrphans,
  keepContents,
  removeOrphan,
} from "../../src/modules/process/evidence/verify-service.ts";
import { openDedicated } from "../../src/db/dedicated.ts";
import { attestPassed } from "../support/attestations.ts";
import { keepEvidence } from "../support/evidence.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { withOneByteChanged } from "../support/damage.ts";
import { amount } from "../support/thorough.ts";
import { folderPlace, openFile } from "../../src/modules/maintenance/backups/place-service.ts";

let app: TestApp;
let org: TestOrg;
let folder: string;

beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  org = await app.org();
  folder = await mkdtemp(join(tmpdir(), "waybill-backups-"));
  for (const trail of ["one", "two"]) await attestPassed(org, trail, "unit");
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

/** Makes a backup in the folder. @returns its file. */
async function make(
  evidence: EvidenceChoice = "full",
  options: { at?: number; earlier?: Map<string, string> } = {},
): Promise<{ id: string; path: string }> {
  const id = randomUUID();
  const path = join(folder, backupName(options.at ?? app.clock.now(), id));
  const sink = await openFileSink(path);
  const { earlier } = options;
  const made = await writeBackup(app.deps, sink, { id, program: "1", evidence, ...(earlier && { earlier }) });
  expect(made.problems).toEqual([]);
  await sink.finish();
  return { id, path };
}

async function evidenceIn(path: string): Promise<string[]> {
  const found: string[] = [];
  const evidence: BackupVisitor["evidence"] = async (sha256, content) => {
    found.push(sha256);
    for await (const _ of content);
  };
  await readBackup(createReadStream(path), { evidence });
  return found;
}

// On Citus no backup is made by this program.
describe.skipIf(inject("cluster"))("a backup", () => {
  it("has every row of every table, as they were at one moment", async () => {
    const { path, id } = await make();
    const { head, end } = await readBackup(createReadStream(path));
    expect(head.id).toBe(id);
    const names = head.tables.map(({ schema, name }) => `${schema}.${name}`);
    expect(names).toContain("public.attestations");
    expect(names).toContain("graphile_worker._private_jobs");
    let rows = 0;
    for (const { schema, name } of head.tables) {
      const counted = await app.deps.db.pool.query<{ n: number }>(
        `select count(*) as n from ${schema}.${name}`,
      );
      rows += counted.rows[0]!.n;
    }
    expect(end.rows).toBe(rows);
    expect(await readdir(folder)).toEqual([path.slice(folder.length + 1)]);
  });

  it.skipIf(inject("divided"))("is the same whether tables are divided by months or not", async () => {
    const digests = async (): Promise<Record<string, number>> => {
      const { path } = await make();
      const rows: Record<string, number> = {};
      await readBackup(createReadStream(path), {
        line: async (line) => {
          if (line.kind === "table") rows[line.table] = line.rows;
        },
      });
      return rows;
    };
    const before = await digests();
    await partitionTable(app.deps, "attestations", () => {});
    expect(await digests()).toEqual(before);
    const { head } = await lookAtBackup(openFile((await make()).path, undefined));
    expect(head.tables.filter(({ partitioned }) => partitioned).map(({ name }) => name)).toEqual([
      "attestations",
    ]);
  });

  it("is refused when any byte is another, or any are missing", async () => {
    const { path } = await make();
    const whole = await readFile(path);
    const flips = Number(process.env["WAYBILL_TEST_FLIPS"] ?? amount(50, 150));
    for (const { at, bytes } of withOneByteChanged(whole, flips)) {
      const reading = readBackup(Readable.from([bytes]));
      await expect(reading, `byte ${at} of ${whole.length}`).rejects.toThrow(DamagedArchive);
    }
    for (let count = 0; count < 10; count += 1) {
      const cut = whole.subarray(0, randomInt(whole.length));
      await expect(readBackup(Readable.from([cut]))).rejects.toThrow(DamagedArchive);
    }
  });

  it("is made where the database has no room for the file that a look is shared by", async () => {
    await app.deps.db.pool.query(`
      create schema full_disk;
      create function full_disk.pg_export_snapshot() returns text language plpgsql as
        $$ begin raise exception 'could not write to file: No space left on device' using errcode = '53100'; end $$;
      alter database "${app.database}" set search_path = full_disk, pg_catalog, public`);
    try {
      const before = await readdir(folder);
      const { path } = await make();
      const { end } = await readBackup(createReadStream(path));
      expect(end.rows).toBeGreaterThan(10);
      expect(await readdir(folder)).toHaveLength(before.length + 1);
    } finally {
      await app.deps.db.pool.query(
        `alter database "${app.database}" reset search_path; drop schema full_disk cascade`,
      );
    }
  });

  it("leaves no file when it fails", async () => {
    const before = await readdir(folder);
    const sink = await openFileSink(join(folder, "failing.tar"));
    const failing = { ...sink, write: () => Promise.reject(new Error("no room")) };
    const options = { id: randomUUID(), program: "1", evidence: "full" as const };
    await expect(writeBackup(app.deps, failing, options)).rejects.toThrow("no room");
    await sink.abandon();
    expect(await readdir(folder)).toEqual(before);
  });
});

describe.skipIf(inject("cluster"))("evidence in backups", () => {
  it("is taken once, from wherever it is", async () => {
    const first = await keepEvidence(app, org, randomBytes(100_000));
    const full = await make("full", { at: 1_700_000_000 });
    expect(await evidenceIn(full.path)).toEqual([first]);
    const second = await keepEvidence(app, org, Buffer.from("second"));
    const next = await make("new", {
      at: 1_700_000_100,
      earlier: await findEarlierEvidence(folderPlace(folder)),
    });
    expect(await evidenceIn(next.path)).toEqual([second]);
    expect((await lookAtBackup(openFile(next.path, undefined))).end).toMatchObject({
      evidence_files: 2,
      needs: [full.id],
    });
    const rows = await make("none", { at: 1_700_000_200 });
    expect(await evidenceIn(rows.path)).toEqual([]);
    // One of rows alone, as before an upgrade, takes the place of none with files; what the one that stays needs stays, too.
    await pruneBackups(folderPlace(folder), { days: 2, weeks: 0, months: 0 });
    expect([full, next, rows].map(({ path }) => existsSync(path))).toEqual([true, true, true]);
  });

  it("that is missing or damaged is told, and the rest is there", async () => {
    const lost = await keepEvidence(app, org, Buffer.from("lost"));
    const kept = await keepEvidence(app, org, Buffer.from("kept"));
    await app.deps.evidence.remove(lost);
    const id = randomUUID();
    const path = join(folder, backupName(app.clock.now(), id));
    const sink = await openFileSink(path);
    const made = await writeBackup(app.deps, sink, { id, program: "1", evidence: "full" });
    await sink.finish();
    expect(made.problems).toMatchObject([{ sha256: lost, problem: "missing" }]);
    expect(await evidenceIn(path)).toContain(kept);
    await (await app.deps.evidence.stage(Readable.from([Buffer.from("lost")]), { maxBytes: 10 })).keep();
  });

  it("is not removed while a backup is made", async () => {
    const staged = await app.deps.evidence.stage(Readable.from([Buffer.from("nobody's")]), { maxBytes: 100 });
    await staged.keep();
    const connection = await openDedicated(app.deps.db);
    await keepContents(connection);
    expect(await removeOrphan(app.deps, staged.sha256)).toBe(false);
    connection.cut();
    await expect.poll(() => removeOrphan(app.deps, staged.sha256)).toBe(true);
    for await (const orphan of findOrphans(app.deps, 0)) expect(orphan.sha256).not.toBe(staged.sha256);
  });
});

it.skipIf(inject("cluster"))(
  "a folder of backups is listed and shortened, with what is damaged named",
  async () => {
    const { path } = await make();
    const broken = join(folder, backupName(1_600_000_000, randomUUID()));
    await writeFile(broken, (await readFile(path)).subarray(0, 5_000));
    const { backups, damaged } = await listBackups(folderPlace(folder));
    expect(backups.map((each) => each.path)).toContain(path);
    expect(damaged.map((name) => join(folder, name))).toEqual([broken]);
    await rm(broken);
    await pruneBackups(folderPlace(folder), { days: 1, weeks: 0, months: 0 });
    const left = (await listBackups(folderPlace(folder))).backups;
    expect(left).toHaveLength(1);
  },
);
