import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";

import { createDatabase, dropDatabase, withDatabase } from "../../test/support/databases.ts";
import { uniqueName } from "../../test/support/app.ts";
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
