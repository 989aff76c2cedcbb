import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { cellAt, csvLine } from "./csv.ts";

/** Reads one line as RFC 4180 has it. */
function read(line: string): string[] {
  expect(line.endsWith("\r\n")).toBe(true);
  const cells: string[] = [];
  const body = line.slice(0, -2);
  for (let at = 0; at <= body.length; at += 1) {
    const quoted = /"(?:[^"]|"")*"/y;
    quoted.lastIndex = at;
    const text = quoted.exec(body)?.[0];
    const end = text === undefined ? body.indexOf(",", at) : at + text.length;
    const cut = body.slice(at, end === -1 ? body.length : end);
    cells.push(text === undefined ? cut : text.slice(1, -1).replaceAll('""', '"'));
    at += cut.length;
  }
  return cells;
}

describe("csvLine", () => {
  it.each([
    [["a", 1, -2.5], "a,1,-2.5"],
    [["", "b c"], ",b c"],
    [['say "no", twice'], '"say ""no"", twice"'],
    [["two\r\nlines"], '"two\r\nlines"'],
    [[" padded "], '" padded "'],
    [['=HYPERLINK("http://x")'], `"'=HYPERLINK(""http://x"")"`],
    [["+1", "-1", "@SUM(A1)"], `"'+1","'-1","'@SUM(A1)"`],
    [["\t=1", "\rx", " =1"], `"'\t=1","'\rx","' =1"`],
    [["＝1"], `"'＝1"`],
    [["a=1", "web@sha256:1", "5-3"], "a=1,web@sha256:1,5-3"],
  ])("prints %j", (values, line) => expect(csvLine(values)).toBe(`${line}\r\n`));

  it("is read as it was written, but for an apostrophe before formulas", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (values) => {
        const cells = read(csvLine(values));
        expect(cells.map((cell, index) => (cell === values[index] ? cell : cell.slice(1)))).toEqual(values);
        for (const cell of cells) expect(cell).not.toMatch(/^[\t\r\n]|^\s*[=+\-@]/);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("cellAt", () => {
  it.each([
    [{ a: 1 }, "a", 1],
    [{ a: "x" }, "a", "x"],
    [{ a: true }, "a", "true"],
    [{ a: null }, "a", ""],
    [{}, "a", ""],
    [{ a: { b: "c" } }, "a.b", "c"],
    [{ a: null }, "a.b", ""],
    [{ a: "text" }, "a.b", ""],
    [{ a: { b: "c" } }, "a", '{"b":"c"}'],
    [{ a: [{ b: "x" }, { b: "y" }, { b: "x" }, {}] }, "a.b", "x; y"],
    [{ a: [1, 2] }, "a", "1; 2"],
    [{ a: [] }, "a", ""],
    [{ a: "own" }, "constructor", ""],
  ])("reads %j at %s", (item, path, cell) => expect(cellAt(item, path.split("."))).toBe(cell));

  it("shows each value in its own way", () =>
    expect(cellAt({ a: [1, 2] }, ["a"], (value) => `<${String(value)}>`)).toBe("<1>; <2>"));
});
