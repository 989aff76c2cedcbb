import fc from "fast-check";
import { describe, expect, it } from "vitest";

import * as server from "../../src/lib/csv.ts";
import { csvHead, csvLine, csvRows, time } from "./csv.ts";

/** Reads CSV as spreadsheets do. */
function parsed(text: string): string[][] {
  const rows: string[][] = [[]];
  let [cell, isQuoted] = ["", false];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]!;
    if (isQuoted && sign === '"' && text[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (sign === "," || (sign === "\r" && text[at + 1] === "\n"))) {
      rows.at(-1)!.push(cell);
      cell = "";
      if (sign === "\r") {
        rows.push([]);
        at += 1;
      }
    } else cell += sign;
  }
  return rows.slice(0, -1);
}

const json = fc.jsonValue({ maxDepth: 3 });
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("=1+1", "+1", "-2", "@x", "\t=1", "＝1", " =1", 'a"b', "a,b", "a\r\nb"),
);

describe("CSV of a list", () => {
  it("is what the server writes, for any values", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }))), (values) => {
        expect(csvLine(values)).toBe(server.csvLine(values));
      }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("a", "b", "c"), json), (item) => {
        for (const path of ["a", "a.b", "b.a.c"])
          expect(csvRows([path], [item])).toBe(server.csvLine([server.cellAt(item, path.split("."))]));
      }),
    );
  });

  it("is read as what was written, but for the apostrophe before formulas, of which none begins a cell", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ name: text, about: text })), (items) => {
        const [head, ...rows] = parsed(csvHead(["name", "about"]) + csvRows(["name", "about"], items));
        expect(head).toEqual(["name", "about"]);
        expect(rows).toHaveLength(items.length);
        for (const [index, row] of rows.entries())
          for (const [at, written] of [items[index]!.name, items[index]!.about].entries()) {
            expect([written, `'${written}`]).toContain(row[at]);
            expect(row[at]).not.toMatch(/^\s*[=+\-@＝＋－＠]/u);
          }
      }),
    );
  });

  it("writes times as dates, lists in one cell, and nothing for what is not there", () => {
    const items = [
      { at: 0.5, tags: ["a", "b", "a"], in: { name: "x" } },
      { at: null, in: [{ name: "y" }, { name: "z" }] },
    ];
    expect(csvHead([time("at"), "tags", "in.name"])).toBe("at,tags,in.name\r\n");
    expect(csvRows([time("at"), "tags", "in.name"], items)).toBe(
      "1970-01-01T00:00:00.500Z,a; b,x\r\n,,y; z\r\n",
    );
  });
});
