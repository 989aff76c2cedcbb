import { describe, expect, it } from "vitest";

import { collect } from "../../test/support/collect.ts";
import { time, withCsv } from "../contract/csv.ts";
import { csvPieces, prefersCsv } from "./csv.ts";

describe("prefersCsv", () => {
  it.each([
    "text/csv",
    "TEXT/CSV",
    "text/csv; charset=utf-8",
    "text/csv, */*;q=0.1",
    "text/csv, */*",
    "application/json;q=0.5, text/csv",
    "text/html,text/csv;q=0.9",
    "text/csv;q=0.5, application/json;q=0.1, */*",
  ])("says yes to %s", (accept) => expect(prefersCsv(accept)).toBe(true));

  it.each([
    undefined,
    "",
    "*/*",
    "text/*",
    "application/json",
    "application/json, text/csv",
    "text/csv, application/json",
    "text/csv;q=0.5, application/json",
    "text/csv;q=0",
    "text/csv;q=0, */*;q=0",
    "text/csv;q=0.5, */*",
    "text/csv;q=0.5, application/*",
    "text/csv;q=nonsense",
    "text/csv;q=7",
    "text/csvx",
    "x-text/csv",
  ])("says no to %s", (accept) => expect(prefersCsv(accept)).toBe(false));
});

async function* batches(...all: object[][]): AsyncGenerator<object[]> {
  yield* all;
}

describe("csvPieces", () => {
  const { csv } = withCsv({}, "list", ["name", time("at"), "flow.name"]);

  it("writes headings, and a line for each row of all batches", async () => {
    const rows = batches(
      [{ name: "=a", at: 0.5, flow: { name: "web, ci" } }],
      [],
      [{ name: "b", at: null, flow: null }],
    );
    const text = (await collect(csvPieces(csv, rows))).join("");
    expect(text).toBe('name,at,flow.name\r\n"\'=a",1970-01-01T00:00:00.500Z,"web, ci"\r\nb,,\r\n');
  });

  it("has headings without rows", async () =>
    expect(await collect(csvPieces(csv, batches()))).toEqual(["name,at,flow.name\r\n"]));

  it("writes a hundred lines in one go at most", async () => {
    const rows = Array.from({ length: 250 }, (_, at) => ({ name: String(at) }));
    const [, ...pieces] = await collect(csvPieces(csv, batches(rows)));
    expect(pieces.map((piece) => piece.split("\r\n").length - 1)).toEqual([100, 100, 50]);
  });
});
