import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { prepareDatabase } from "../../src/open-database.ts";
import { connect, type Database } from "../../src/db/connect.ts";
import type { Migration } from "../../src/db/migrate.ts";
import { parseBackupName } from "../../src/domain/backups.ts";
import { createEvidenceStore } from "../../src/evidence/create.ts";
import { silentLog } from "../../src/lib/log.ts";
import { backUpBeforeMigrating } from "../../src/modules/maintenance/backups/before-migrating-service.ts";
import { folderPlace } from "../../src/modules/maintenance/backups/place-service.ts";
import type { Answer } from "../support/client.ts";
import { createDatabase, dropDatabase, urlOf, withDatabase } from "../support/databases.ts";
import { earlierStates, makeEarlierState } from "../support/earlier-states.ts";
import { spawnWaybill } from "../support/server-process.ts";
import { uniqueName } from "../support/unique-name.ts";

const name = uniqueName("upgrade").replaceAll("-", "_");
const server = inject("postgres");
let db: Database;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-upgrade-"));
  await createDatabase(server, name);
  db = connect({ connection: withDatabase(server, name), max: 3 });
});
afterAll(async () => {
  await db.close();
  await dropDatabase(server, name);
  await rm(folder, { recursive: true });
});

interface Told {
  code: number;
  json: Answer["json"];
  stderr: string;
}

/** Asks what an upgrade would do, with these settings. */
async function check(environment: Record<string, string>, ...more: string[]): Promise<Told> {
  const child = spawnWaybill(["upgrade", "--check", "--json", ...more], {
    WAYBILL_DATA_DIR: join(folder, "data"),
    ...environment,
  });
  const ended = new Promise<number>((done) => child.once("close", done));
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  return { code: await ended, json: JSON.parse(stdout || "{}"), stderr };
}

const onDatabase = (): Record<string, string> => ({ DATABASE_URL: urlOf(server, name) });

describe.skipIf(inject("cluster"))("waybill upgrade --check", { timeout: 120_000 }, () => {
  it("says that nothing is installed, and makes nothing", async () => {
    const told = await check({});
    expect([told.code, told.stderr, told.json["installed"]]).toEqual([0, "", false]);
    const empty = await check(onDatabase());
    expect([empty.code, empty.json["installed"]]).toEqual([0, false]);
    expect((await db.pool.query("select to_regclass('migrations') as found")).rows).toEqual([
      { found: null },
    ]);
  });

  it("tells what an earlier state needs, and asks for a backup until there is one", async () => {
    await makeEarlierState(db, earlierStates[0]!);
    await db.pool.query("analyze");
    const told = await check(onDatabase());
    expect(told.code).toBe(3);
    expect(told.stderr).toContain("no backup of the last 24 hours");
    const rewriting = told.json["migrations"].find((each: { name: string }) => each.name.startsWith("0032"));
    expect(rewriting).toMatchObject({ rewrites: true });
    expect(rewriting.tables.map((table: { name: string }) => table.name)).toContain("attestations");
    expect(
      rewriting.tables.find((table: { name: string }) => table.name === "attestations").rows,
    ).toBeGreaterThan(20);
    expect(rewriting.bytes).toBeGreaterThan(0);
    expect(told.json["seconds"]).toBeGreaterThan(0);

    const evidence = createEvidenceStore({ dir: join(folder, "evidence"), maxBytes: 1, s3: undefined });
    const file = await backUpBeforeMigrating(
      { db, evidence },
      { place: folderPlace(folder), program: "0.1.0" },
      [],
    );
    const after = await check(onDatabase(), "--backups", folder);
    expect([after.code, after.stderr, after.json["backup"].file]).toEqual([0, "", file]);
    const set = await check({ ...onDatabase(), WAYBILL_BACKUP_TO: folder });
    expect([set.code, set.json["backup"].file]).toEqual([0, file]);
  });

  it("keeps the last of the backups before a migration that was interrupted, and of theirs nothing unfinished", async () => {
    const there = join(folder, "interrupted");
    const evidence = createEvidenceStore({ dir: join(folder, "evidence"), maxBytes: 1, s3: undefined });
    const place = { place: folderPlace(there), program: "0.1.0" };
    const pending = [{ name: "9000-large.sql" } as Migration];
    const before = async (migrations = pending) =>
      basename(await backUpBeforeMigrating({ db, evidence }, place, migrations));
    const former = await before();
    const other = await before([{ name: "9001-other.sql" } as Migration]);
    const id = parseBackupName(former)!.id;
    const earlier = `waybill-20260101T000000Z-${id}.tar`;
    const foreign = "waybill-20260101T000000Z-01234567.tar.1.partial";
    for (const name of [earlier, foreign, `${earlier}.1.partial`, `${former}.99.partial`])
      await writeFile(join(there, name), "x");
    await rename(join(there, former), join(there, former.replace(/\d\dZ/, "00Z")));
    const last = await before();
    expect((await readdir(there)).toSorted()).toEqual([earlier, foreign, other, last].toSorted());
  });

  it("finds nothing to do in a database that is up to date", async () => {
    await prepareDatabase(db, silentLog);
    const told = await check(onDatabase());
    expect([told.code, told.json["migrations"], told.json["schema_by"]]).toEqual([0, [], told.json["to"]]);
  });

  it("tells which version made the schema, which is not the one that ran last", async () => {
    // As 0.0.9 left it; whatever ran after that brought no migrations.
    await db.pool.query("update migrations set program = '0.0.9' where program is not null");
    try {
      const told = await check(onDatabase());
      expect(told.json["schema_by"]).toBe("0.0.9");
      expect(Object.keys(told.json)).not.toContain("from");
      const child = spawnWaybill(["upgrade", "--check"], {
        WAYBILL_DATA_DIR: join(folder, "data"),
        WAYBILL_BACKUP_TO: folder,
        ...onDatabase(),
      });
      expect(await text(child.stdout!)).toContain(
        "Upgrade to 0.1.0, 1 minor version on from 0.0.9, which made the schema: 0 migrations",
      );
    } finally {
      await db.pool.query("update migrations set program = '0.1.0' where program is not null");
    }
  });

  it("warns of a later version's schema, and fails for one that cannot be worked with", async () => {
    const { rows } = await db.pool.query<{ program: string }>(
      "select max(program) as program from migrations",
    );
    const [major, minor] = (rows[0]?.program ?? "").split(".").map(Number);
    const later = (program: string): Promise<unknown> =>
      db.pool.query(
        `insert into migrations (name, checksum, program) values ('9999-later.sql', $1, $2)
         on conflict (name) do update set program = excluded.program`,
        [randomUUID(), program],
      );
    await later(`${major}.${(minor ?? 0) + 1}.0`);
    const ahead = await check(onDatabase());
    expect([ahead.code, ahead.json["ahead"]]).toEqual([3, ["9999-later.sql"]]);
    await later(`${major}.${(minor ?? 0) + 2}.0`);
    const beyond = await check(onDatabase());
    expect(beyond.code).toBe(1);
    expect(beyond.stderr).toContain("was written by a newer version");
  });

  it("says what it is for when it is not told to look", async () => {
    const child = spawnWaybill(["upgrade"], { WAYBILL_DATA_DIR: join(folder, "data") });
    expect(await new Promise((done) => child.once("close", done))).toBe(2);
  });
});
