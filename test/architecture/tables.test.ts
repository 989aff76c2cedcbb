import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { placements } from "../../src/db/citus/placement.ts";
import { boolean, text } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { root, sourceFiles } from "./imports.ts";

const write = /\b(?:insert\s+into|update|delete\s+from)\s+(?:only\s+)?([a-z_]+)/g;

/** The module a file belongs to, or its folder outside of modules. */
function ownerOf(file: string): string {
  const folders = file.split("/");
  return file.startsWith("src/modules/") ? folders.slice(2, 4).join("/") : folders.slice(0, 2).join("/");
}

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** Modules by table, as the documentation has them. */
function documented(): Map<string, string[]> {
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
  return new Map(
    [...page.matchAll(/^\| `([a-z_]+)`\s*\| ([^|]*?)\s*\|$/gm)].map(([, table, owners]) => [
      table!,
      owners!.split(", "),
    ]),
  );
}

test("each table has its place on Citus", async () => {
  const rows = await app.deps.db.all(query({ name: text, in_organization: boolean })`
    select relname as name, exists (
      select from pg_attribute where attrelid = c.oid and attname = 'org_id' and attnotnull) as in_organization
    from pg_class c
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname not like 'citus\_%'`);
  expect([...placements.keys()].toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
  const spread = rows.filter(({ name }) => placements.get(name) === "organization");
  expect(spread.filter(({ in_organization }) => !in_organization)).toEqual([]);
});

test("the documentation names the writers of every table", async () => {
  const owners = documented();
  const rows = await app.deps.db.all(query({ name: text })`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`);
  const tables = rows.map(({ name }) => name);
  expect([...owners.keys()].toSorted()).toEqual(tables.toSorted());
  const unnamed = sourceFiles(["src"])
    .filter((file) => !file.startsWith("src/modules/maintenance/"))
    .flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(write)]
        .map(([, table]) => table!)
        .filter((table) => tables.includes(table) && owners.get(table)?.includes(ownerOf(file)) !== true)
        .map((table) => `${file} writes ${table}`),
    );
  expect(unnamed).toEqual([]);
});
