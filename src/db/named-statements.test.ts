import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { connect, type Database } from "./connect.ts";
import { statementName } from "./named-statements.ts";

let db: Database;
const varying: string[] = [];
beforeAll(() => {
  const onVaryingStatement = (name: string) => varying.push(name);
  db = connect({ connection: inject("postgres"), max: 1, onVaryingStatement });
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

  it("run without being prepared, and say so, when their text is not the one their name had", async () => {
    const varies = (column: string) => sql<{ n: number }>`/* varies */ select 1 as ${sql.ref(column)}`;
    expect((await varies("a").execute(db.query)).rows).toEqual([{ a: 1 }]);
    expect((await varies("b").execute(db.query)).rows).toEqual([{ b: 1 }]);
    expect((await varies("a").execute(db.query)).rows).toEqual([{ a: 1 }]);
    expect(await db.prepared({ name: "varies", text: "select 2 as c" }, [])).toEqual([{ c: 2 }]);
    expect(varying).toEqual(["varies", "varies"]);
    const { rows } = await db.pool.query(
      "select statement from pg_prepared_statements where name = 'varies'",
    );
    expect(rows).toEqual([{ statement: '/* varies */ select 1 as "a"' }]);
  });

  it("fail when whoever is told of that throws", async () => {
    const onVaryingStatement = (name: string): never => {
      throw new Error(`${name} varies`);
    };
    const strict = connect({ connection: inject("postgres"), max: 1, onVaryingStatement });
    await strict.prepared({ name: "one", text: "select 1" }, []);
    await expect(sql`/* one */ select 2`.execute(strict.query)).rejects.toThrow("one varies");
    await strict.close();
  });
});
