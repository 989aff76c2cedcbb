import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { connect, type Database } from "./connect.ts";
import { statementName } from "./named-statements.ts";

let db: Database;
beforeAll(() => {
  db = connect({ connection: inject("postgres"), max: 1 });
});
afterAll(() => db.close());

describe("statementName", () => {
  it.each([
    ["/* list-things */ select 1", "list-things"],
    ["\n    /* a */ select 1", "a"],
    ["select /* a */ 1", undefined],
    ["/* two words */ select 1", undefined],
    ["/* Upper */ select 1", undefined],
    ["", undefined],
  ])("of %j", (text, name) => {
    expect(statementName(text)).toBe(name);
  });
});

describe("statements of the query builder", () => {
  it("are prepared once under the name they carry, in transactions and outside, and not otherwise", async () => {
    const named = (value: number) => sql<{ n: number }>`/* add-one */ select ${value}::integer + 1 as n`;
    expect((await named(1).execute(db.query)).rows).toEqual([{ n: 2 }]);
    await db.query.transaction().execute(async (tx) => {
      expect((await named(5).execute(tx)).rows).toEqual([{ n: 6 }]);
      await sql`select ${7}::integer`.execute(tx);
    });
    const { rows } = await db.pool.query("select name from pg_prepared_statements");
    expect(rows).toEqual([{ name: "add-one" }]);
  });
});
