import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ExactJson } from "../lib/exact-json.ts";
import { text } from "./row.ts";
import {
  command,
  constant,
  empty,
  identifier,
  join,
  json,
  jsonb,
  moment,
  param,
  query,
  raw,
  render,
  sql,
} from "./sql.ts";

describe("sql", () => {
  it("makes values parameters, and other SQL part of it", () => {
    const condition = sql`name = ${"a"} and age > ${7}`;
    expect(render(sql`select * from t where org = ${"o"} and (${condition}) limit ${1}`)).toEqual({
      text: "select * from t where org = $1 and (name = $2 and age > $3) limit $4",
      values: ["o", "a", 7, 1],
    });
  });

  it("numbers a parameter once, wherever it stands", () => {
    const org = param("o");
    expect(render(sql`${org}, ${"x"}, ${sql`(${org})`}, ${org}`)).toEqual({
      text: "$1, $2, ($1), $1",
      values: ["o", "x"],
    });
  });

  it("gives the same text for each call of the same place", () => {
    const at = (value: number) => sql`select ${value}`;
    expect([render(at(1)), render(at(2))]).toEqual([
      { text: "select $1", values: [1] },
      { text: "select $1", values: [2] },
    ]);
  });

  it("leaves parameters out of the texts it remembers", () => {
    const pair = (left: ReturnType<typeof param>, right: ReturnType<typeof param>) => sql`${left} = ${right}`;
    const one = param(1);
    expect(render(pair(one, one)).text).toBe("$1 = $1");
    expect(render(pair(one, param(1))).text).toBe("$1 = $2");
  });

  it("writes constants into the text", () => {
    expect(render(sql`limit ${constant(50)} offset ${3}`)).toEqual({
      text: "limit 50 offset $1",
      values: [3],
    });
    expect(render(sql`${constant(true)}, ${constant(false)}, ${constant(-1)}, ${constant(0.5)}`).text).toBe(
      "true, false, -1, 0.5",
    );
    expect(constant(Number.MAX_SAFE_INTEGER).strings).toEqual(["9007199254740991"]);
    for (const value of [Number.NaN, Infinity, -Infinity, 2 ** 53])
      expect(() => constant(value)).toThrow(`${value} cannot stand in SQL`);
  });

  it("never lets a value into the text", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 5 }), (values) => {
        const { text: rendered, values: sent } = render(sql`in (${join(values)})`);
        expect(rendered).toBe(`in (${values.map((_, at) => `$${at + 1}`).join(", ")})`);
        expect(sent).toEqual(values);
      }),
    );
  });

  it("joins, names and leaves out", () => {
    expect(render(sql`${join([raw("a"), sql`b = ${1}`], " and ")}${empty}`).text).toBe("a and b = $1");
    expect(render(identifier("public", 'we"ird')).text).toBe('"public"."we""ird"');
    expect(render(join([])).text).toBe("");
  });

  it("writes moments and JSON", () => {
    expect(render(moment(1.5))).toEqual({ text: "to_timestamp($1::float8)", values: [1.5] });
    expect(render(jsonb({ a: [1] }))).toEqual({ text: "$1::jsonb", values: ['{"a":[1]}'] });
    expect(render(jsonb(undefined)).values).toEqual([null]);
    expect(render(json(ExactJson.ofText("1.0")))).toEqual({ text: "$1::json", values: ["1.0"] });
  });
});

describe("statements", () => {
  it("carry their name and their columns", () => {
    expect(query("by-name", { name: text }, { pipelined: true })`select ${"x"}::text as name`).toMatchObject({
      name: "by-name",
      columns: { name: text },
      pipelined: true,
    });
    expect(query({ name: text })`select 'x' as name`).toMatchObject({ name: undefined, pipelined: false });
    expect(command("forget")`delete from t`).toMatchObject({ name: "forget" });
  });
});
