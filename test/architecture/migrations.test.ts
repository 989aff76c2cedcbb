import { join } from "node:path";

import { loadModule, parseSync } from "libpg-query";
import { describe, expect, it } from "vitest";

import { packageRoot } from "../../src/config.ts";
import { readMigrations } from "../../src/db/migrate.ts";
import { splitStatements } from "../../src/db/sql-statements.ts";
import { effectsOf, growingTables, readMarks, withoutMarks } from "../../src/domain/migration-effects.ts";
import { partitionedTables } from "../../src/domain/partitions.ts";

const effects = (sql: string): string[] => effectsOf(sql).map(({ table, what }) => `${table}: ${what}`);

describe("migrations", () => {
  it("are marked if they keep a growing table busy for as long as its rows take", async () => {
    const migrations = await readMigrations(join(packageRoot, "migrations"));
    const unmarked = migrations
      .filter(({ rewrites }) => !rewrites)
      .flatMap(({ name, sql }) => effects(sql).map((effect) => `${name}: ${effect}`));
    // Either write it otherwise (a column without a default, an index in a later release), or begin it with `-- waybill: rewrites`.
    expect(unmarked).toEqual([]);
  });

  it("are known by their text alone", () => {
    expect(readMarks("-- waybill: rewrites\n-- why\nselect 1;\n")).toEqual({
      rewrites: true,
      contracts: false,
    });
    expect(withoutMarks("-- waybill: rewrites\n-- waybill: contracts\n-- why\n")).toBe("-- why\n");
    expect(() => readMarks("-- waybill: quick\n")).toThrow("cannot be marked quick");
  });

  it("are split into the statements that PostgreSQL reads in them", async () => {
    await loadModule();
    const treesOf = (sql: string): unknown[] =>
      (parseSync(sql).stmts ?? []).map(({ stmt }: { stmt?: unknown }) =>
        JSON.stringify(stmt, (key, value: unknown) =>
          /^(?:location|(?:rexpr_)?list_(?:start|end))$/.test(key) ? undefined : value,
        ),
      );
    for (const { name, sql } of await readMigrations(join(packageRoot, "migrations"))) {
      const split = splitStatements(sql).map((statement) => treesOf(statement));
      expect([name, split]).toEqual([name, treesOf(sql).map((tree) => [tree])]);
    }
  });

  it("are judged with all tables that are divided by months", () => {
    expect(partitionedTables.filter((table) => !growingTables.includes(table))).toEqual([]);
  });
});

describe("what a migration does", () => {
  it.each([
    ["alter table trails alter column name type varchar(10);", ["trails: writes the table anew"]],
    [
      "alter table public.trails add column id2 uuid default gen_random_uuid();",
      ["trails: writes the table anew"],
    ],
    [
      "ALTER TABLE trails\n  ADD COLUMN x text GENERATED ALWAYS AS (name) STORED;",
      ["trails: writes the table anew"],
    ],
    [
      "alter table trails alter column name set not null;",
      ["trails: reads the table while nobody may write it"],
    ],
    [
      "alter table artifacts add constraint c check (size > 0);",
      ["artifacts: checks every row while nobody may write it"],
    ],
    ["create index on builds (id);", ["builds: makes an index while nobody may write it"]],
    [
      "create unique index if not exists b on only builds (id);",
      ["builds: makes an index while nobody may write it"],
    ],
    ["update trails set name = 'a;b';", ["trails: changes rows"]],
    ["with x as (select 1) update trails set name = 'b';", ["trails: changes rows"]],
    ["do $$ begin update trails set name = ''; end $$;", ["trails: changes rows"]],
    [
      "insert into flows (id) select flow_id from trails join builds b on true;",
      ["trails: reads every row", "builds: reads every row"],
    ],
    ["create table x as select * from audit_log;", ["audit_log: reads every row"]],
    ["lock table snapshots in access exclusive mode;", ["snapshots: locks the table"]],
  ])("is seen in %j", (sql, expected) => {
    expect(effects(sql)).toEqual(expected);
  });

  it.each([
    "alter table trails add column note text;",
    "alter table trails add column n integer not null default 0, alter column name set statistics 0;",
    "alter table trails add constraint c check (n > 0) not valid;",
    "alter table trails add constraint c unique using index i;",
    "create index concurrently on trails (id);",
    "create table trails_new (id uuid); create index on trails_new (id); insert into trails_new select x from flows;",
    "create function f() returns void language sql as $$ update trails set name = 'x' $$;",
    "-- update trails set name = 'x';\nselect 'delete from trails';",
    "update environments set name = 'x';",
    "drop index trails_name; drop table builds;",
  ])("is nothing in %j", (sql) => {
    expect(effects(sql)).toEqual([]);
  });
});
