import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";

import { createDatabase, dropDatabase, withDatabase } from "../../test/support/databases.ts";
import { uniqueName } from "../../test/support/unique-name.ts";
import { connect, type Database } from "./connect.ts";
import { migrate } from "./migrate.ts";

let name: string;
let folder: string;
let db: Database;

beforeEach(async () => {
  name = uniqueName("waybill_migrate").replaceAll("-", "_");
  folder = await mkdtemp(join(tmpdir(), "waybill-migrations-"));
  await createDatabase(inject("postgres"), name);
  db = connect({ connection: withDatabase(inject("postgres"), name), max: 4 });
});
afterEach(async () => {
  await db.close();
  await dropDatabase(inject("postgres"), name);
  await rm(folder, { recursive: true });
});

async function addMigration(file: string, text: string): Promise<void> {
  await writeFile(join(folder, file), text);
}

async function tables(): Promise<string[]> {
  const { rows } = await db.pool.query<{ table_name: string }>(
    "select table_name from information_schema.tables where table_schema = 'public' order by 1",
  );
  return rows.map((row) => row.table_name);
}

describe("migrate", () => {
  it("sets no limit of time to a migration, and leaves the usual one behind", async () => {
    await addMigration(
      "0001-slow.sql",
      "create table limits as select current_setting('statement_timeout') as value",
    );
    await migrate(db.pool, folder);
    expect((await db.pool.query("select value from limits")).rows).toEqual([{ value: "0" }]);
    expect((await db.pool.query("show statement_timeout")).rows).toEqual([{ statement_timeout: "1min" }]);
  });

  it("applies files in order of their names, once", async () => {
    await addMigration("0002-b.sql", "create table b (a integer references a (id));");
    await addMigration("0001-a.sql", "create table a (id integer primary key);");
    expect(await migrate(db.pool, folder)).toEqual(["0001-a.sql", "0002-b.sql"]);
    expect(await migrate(db.pool, folder)).toEqual([]);
    await addMigration("0003-c.sql", "create table c ();");
    expect(await migrate(db.pool, folder)).toEqual(["0003-c.sql"]);
    expect(await tables()).toEqual(["a", "b", "c", "migrations"]);
  });

  it("lets processes that start together wait for each other", async () => {
    await addMigration("0001-a.sql", "create table a (); select pg_sleep(0.1);");
    const applied = await Promise.all([1, 2, 3].map(() => migrate(db.pool, folder)));
    expect(applied.flat()).toEqual(["0001-a.sql"]);
  });

  it("leaves nothing of a migration that fails, and keeps those before it", async () => {
    await addMigration("0001-a.sql", "create table a ();");
    await addMigration("0002-b.sql", "create table b (); select 1 / 0;");
    await expect(migrate(db.pool, folder)).rejects.toThrow("Migration 0002-b.sql failed");
    expect(await tables()).toEqual(["a", "migrations"]);
    await addMigration("0002-b.sql", "create table b ();");
    expect(await migrate(db.pool, folder)).toEqual(["0002-b.sql"]);
  });

  it("refuses a file that was changed after it was applied", async () => {
    await addMigration("0001-a.sql", "create table a ();");
    await migrate(db.pool, folder);
    await addMigration("0001-a.sql", "create table a (id integer);");
    await addMigration("0002-b.sql", "create table b ();");
    await expect(migrate(db.pool, folder)).rejects.toThrow(
      "Migration 0001-a.sql was changed after it was applied",
    );
    expect(await tables()).toEqual(["a", "migrations"]);
  });

  it("refuses a database that a newer version wrote", async () => {
    await addMigration("0001-a.sql", "create table a ();");
    await migrate(db.pool, folder);
    await rm(join(folder, "0001-a.sql"));
    await expect(migrate(db.pool, folder)).rejects.toThrow("was written by a newer version");
  });
});

describe("migrate, on a database that a later version was at", () => {
  /** A later version applies 0002; then 0002 is taken away, as it is not there in the version before. */
  async function upgradedBy(program: string, second = "create table b ();"): Promise<void> {
    await addMigration("0001-a.sql", "create table a ();");
    await migrate(db.pool, folder, { program: "1.4.0" });
    await addMigration("0002-b.sql", second);
    await migrate(db.pool, folder, { program });
    await rm(join(folder, "0002-b.sql"));
  }

  it("works with a schema one minor version ahead, and says so", async () => {
    await upgradedBy("1.5.2");
    const ahead: string[] = [];
    const options = { program: "1.4.9", onAhead: (names: readonly string[]) => void ahead.push(...names) };
    expect(await migrate(db.pool, folder, options)).toEqual([]);
    expect(ahead).toEqual(["0002-b.sql"]);
  });

  it.each([
    ["two minor versions ahead", "1.6.0", undefined],
    ["of another major version", "2.0.0", undefined],
    ["that was contracted", "1.5.0", "-- waybill: contracts\ncreate table b ();"],
  ])("refuses one %s", async (_what, program, second) => {
    await upgradedBy(program, second);
    await expect(migrate(db.pool, folder, { program: "1.4.0" })).rejects.toThrow(
      `was written by a newer version (${program}): it has migration 0002-b.sql`,
    );
  });

  it("refuses one whose own migrations are not all there", async () => {
    await upgradedBy("1.5.0");
    await addMigration("0003-c.sql", "create table c ();");
    await expect(migrate(db.pool, folder, { program: "1.4.0" })).rejects.toThrow("newer version");
    expect(await tables()).toEqual(["a", "b", "migrations"]);
  });

  it("names the backup that was made before", async () => {
    await addMigration("0001-a.sql", "create table organizations as select 1 as id;");
    await migrate(db.pool, folder, { program: "1.4.0" });
    await addMigration("0002-b.sql", "-- waybill: rewrites\nupdate organizations set id = 2;");
    await migrate(db.pool, folder, { program: "1.9.0", beforeRewriting: async () => "/backups/one.tar" });
    await rm(join(folder, "0002-b.sql"));
    await expect(migrate(db.pool, folder, { program: "1.4.0" })).rejects.toThrow(
      "waybill restore --force-nonempty /backups/one.tar",
    );
  });
});

describe("migrate, before tables are rewritten", () => {
  const rewriting = "-- waybill: rewrites\nupdate organizations set id = id + 1;";

  it("asks once for a backup, with what comes before applied and the rest not", async () => {
    await addMigration("0001-a.sql", "create table organizations as select 1 as id;");
    await migrate(db.pool, folder);
    for (const [file, text] of [
      ["0002-b.sql", "create table b ();"],
      ["0003-c.sql", rewriting],
      ["0004-d.sql", rewriting],
    ] as const)
      await addMigration(file, text);
    const asked: unknown[] = [];
    const beforeRewriting = async (pending: readonly { name: string }[]): Promise<string> => {
      asked.push([pending.map(({ name }) => name), await tables()]);
      return "file";
    };
    await migrate(db.pool, folder, { beforeRewriting });
    expect(asked).toEqual([
      [
        ["0003-c.sql", "0004-d.sql"],
        ["b", "migrations", "organizations"],
      ],
    ]);
    const { rows } = await db.pool.query("select backup from migrations order by name");
    expect(rows.map((row: { backup: string | null }) => row.backup)).toEqual([null, null, "file", "file"]);
  });

  it("applies nothing when that fails", async () => {
    await addMigration("0001-a.sql", "create table organizations as select 1 as id;");
    await migrate(db.pool, folder);
    await addMigration("0002-b.sql", rewriting);
    const beforeRewriting = (): Promise<never> => Promise.reject(new Error("no room"));
    await expect(migrate(db.pool, folder, { beforeRewriting })).rejects.toThrow("no room");
    expect((await db.pool.query("select id from organizations")).rows).toEqual([{ id: 1 }]);
  });

  it("asks for none while the database is empty", async () => {
    await addMigration("0001-a.sql", "create table organizations (id integer);");
    await addMigration("0002-b.sql", rewriting);
    const beforeRewriting = (): Promise<never> => Promise.reject(new Error("asked"));
    expect(await migrate(db.pool, folder, { beforeRewriting })).toHaveLength(2);
  });

  it("takes a mark that is added later for no change", async () => {
    await addMigration("0001-a.sql", "create table a ();\n");
    await migrate(db.pool, folder);
    await addMigration("0001-a.sql", "-- waybill: rewrites\ncreate table a ();\n");
    expect(await migrate(db.pool, folder)).toEqual([]);
  });
});
