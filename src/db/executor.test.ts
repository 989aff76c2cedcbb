import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { connect, type Database } from "./connect.ts";
import { boolean, integer, json, nullable, oneOf, text, timestamp, uuid } from "./row.ts";
import { command, query, raw, sql } from "./sql.ts";
import { transaction } from "./transaction.ts";

let db: Database;
const varying: string[] = [];
beforeAll(() => {
  const onVaryingStatement = (name: string) => varying.push(name);
  db = connect({ connection: inject("postgres"), max: 1, onVaryingStatement, checkRows: true });
});
afterAll(() => db.close());

describe("an executor", () => {
  it("reads all rows, the first, or the only one", async () => {
    const numbers = (most: number) => query({ n: integer })`select generate_series(1, ${most}::integer) as n`;
    expect(await db.all(numbers(3))).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await db.first(numbers(3))).toEqual({ n: 1 });
    expect(await db.first(numbers(0))).toBeUndefined();
    expect(await db.one(numbers(1))).toEqual({ n: 1 });
    await expect(db.one(numbers(0))).rejects.toThrow("A statement answered no row");
  });

  it("says how many rows a command changed", async () => {
    await transaction(db, async (tx) => {
      await tx.run(sql`create temporary table things (n integer) on commit drop`);
      expect(await tx.run(command("fill")`insert into things values (1), (2)`)).toBe(2);
      expect(await tx.run(sql`delete from things where n > ${1}`)).toBe(1);
    });
  });
});

describe("statements with a name", () => {
  const addOne = (value: number) => query("add-one", { n: integer })`select ${value}::integer + 1 as n`;

  it("are prepared once, in transactions and outside; others are not", async () => {
    expect(await db.one(addOne(1))).toEqual({ n: 2 });
    await transaction(db, async (tx) => {
      expect(await tx.one(addOne(5))).toEqual({ n: 6 });
      await tx.run(sql`select ${7}::integer`);
    });
    const { rows } = await db.pool.query("select name from pg_prepared_statements order by name");
    expect(rows).toEqual([{ name: "add-one" }, { name: "fill" }]);
  });

  it("run without being prepared, and say so, when their text is not the one their name had", async () => {
    const varies = (value: string) => query("varies", { n: integer })`select ${raw(value)} as n`;
    for (const value of ["1", "2", "1"]) expect(await db.one(varies(value))).toEqual({ n: Number(value) });
    await transaction(db, (tx) => tx.one(varies("3")));
    expect(varying).toEqual(["varies", "varies"]);
    const { rows } = await db.pool.query(
      "select statement from pg_prepared_statements where name = 'varies'",
    );
    expect(rows).toEqual([{ statement: "select 1 as n" }]);
  });

  it("fail when whoever is told of that throws", async () => {
    const onVaryingStatement = (name: string): never => {
      throw new Error(`${name} varies`);
    };
    const strict = connect({ connection: inject("postgres"), max: 1, onVaryingStatement });
    await strict.run(command("one")`select 1`);
    await expect(strict.run(command("one")`select 2`)).rejects.toThrow("one varies");
    await strict.close();
  });
});

describe("rows that are not as claimed", () => {
  const wrong: [string, ReturnType<ReturnType<typeof query>>, string][] = [
    ["another type", query({ n: integer })`select 'x' as n`, "column n is text, not int8 or int4 or int2"],
    ["a column more", query({ n: integer })`select 1 as n, 2 as m`, "has the columns n, m, not n"],
    ["a column less", query({ n: integer, m: text })`select 1 as n`, "has the columns n, not n, m"],
    ["another name", query({ n: integer })`select 1 as m`, "has the columns m, not n"],
    ["null", query({ n: integer })`select null::integer as n`, "column n is null"],
    ["another text", query({ n: oneOf(["a", "b"]) })`select 'c' as n`, 'column n is "c"'],
    [
      "another type, without rows",
      query({ n: uuid })`select 1 as n where false`,
      "column n is int4, not uuid",
    ],
  ];

  it.each(wrong)("are a mistake: %s", async (_, statement, complaint) => {
    await expect(db.all(statement)).rejects.toThrow(complaint);
    await expect(transaction(db, (tx) => tx.all(statement))).rejects.toThrow(complaint);
  });

  it("but not those that are", async () => {
    const columns = {
      id: uuid,
      name: nullable(text),
      at: timestamp,
      is: boolean,
      data: json<{ a: number }>(),
      kind: oneOf(["a", "b"]),
    };
    const row = await db.one(query(columns)`
      select '00000000-0000-7000-8000-000000000000'::uuid as id, null::text as name, to_timestamp(1.25) as at, true as is,
        '{"a":1}'::jsonb as data, 'b' as kind`);
    expect(row).toEqual({
      id: "00000000-0000-7000-8000-000000000000",
      name: null,
      at: 1.25,
      is: true,
      data: { a: 1 },
      kind: "b",
    });
  });
});
