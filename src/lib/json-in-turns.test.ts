import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { hostileJson } from "../../test/support/exact.ts";
import { JsonError, parseJson, parseJsonInTurns, readJson } from "./json.ts";
import { finish } from "./steps.ts";

/** Blanks that make a text long enough to be read in pieces, wherever they are put. */
const blanks = " ".repeat(40 * 1024);

function outcome(parse: () => unknown): unknown {
  try {
    // As text: two objects are the same only if their members are in the same order.
    return JSON.stringify(parse());
  } catch (error) {
    return error instanceof JsonError ? error.message : error;
  }
}

/** Whether it comes to the same in pieces. Not left to `expect`, which would make a diff of megabytes. */
function isSame(text: string): boolean {
  const bytes = Buffer.from(text);
  return outcome(() => finish(readJson(bytes))) === outcome(() => parseJson(bytes));
}

/** JSON with blanks between some of its tokens, so that any of its values may be the one that ends a piece. */
const spread = fc
  .tuple(hostileJson, hostileJson, fc.array(fc.nat(), { maxLength: 4 }))
  .map(([one, other, places]) => {
    let text = `{"one":${one},"list":[${other},${one},[${other}]],"one":${other},"7":{"b":${one},"a":[]}}`;
    for (const place of places) {
      const commas = [...text.matchAll(/[,:]/g)].map(({ index }) => index + 1);
      const at = commas[place % commas.length]!;
      text = text.slice(0, at) + blanks + text.slice(at);
    }
    return text;
  });

describe("JSON that is read in pieces", () => {
  it("says the same as all at once", () => {
    fc.assert(
      fc.property(spread, (text) => {
        expect(isSame(text)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ["a long list", `[${'{"a":[1,"b",null,true]},'.repeat(20_000)}1e400]`],
    ["lists in lists", `[${`${"[".repeat(90)}1,2${"]".repeat(90)},`.repeat(2_000)}3]`],
    ["many members", `{${Array.from({ length: 20_000 }, (_, at) => `"k${at % 15_000}":${at}`).join()}}`],
    ["numbers as keys", `{${Array.from({ length: 20_000 }, (_, at) => `"${90_000 - at}":${at}`).join()}}`],
    ["a long text", JSON.stringify({ a: "é€😀x".repeat(100_000) })],
    ["a text of escapes", `["${String.raw`\u00e9\n\ud83d\ude00\\`.repeat(50_000)}"]`],
    ["a long key", `{"${String.raw`k\"\ud83d\ude00`.repeat(30_000)}":1,"a":2}`],
    ["a long number", `[${"9".repeat(200_000)},1]`],
    ["a mark of the order of bytes", `\uFEFF[${"1,".repeat(100_000)}2]`],
    ["blanks", " ".repeat(300_000)],
    ["blanks around", `${" ".repeat(200_000)}7${"\n".repeat(200_000)}`],
    ["a list that does not end", `[${"1,".repeat(100_000)}2`],
    ["a text that does not end", `["${"x".repeat(300_000)}`],
    ["half a pair of surrogates", `["${"x".repeat(300_000)}\\ud83d"]`],
    ["a key that is refused", `[${"1,".repeat(100_000)}{"__proto__":1}]`],
    ["too many levels", `[${"1,".repeat(100_000)}${"[".repeat(100)}${"]".repeat(100)}]`],
  ])("says the same as all at once: %s", (_what, text) => {
    expect(isSame(text)).toBe(true);
  });

  it("is refused when it is not UTF-8, wherever", () => {
    const bytes = Buffer.from(`["${"x".repeat(3_000_000)}"]`);
    bytes[2_000_001] = 0xe9;
    expect(outcome(() => finish(readJson(bytes)))).toBe("Text is not valid UTF-8");
  });

  it.each([
    ["values", `[${"0,".repeat(1_000_000)}0]`, "There are more than 1000000 values"],
    [
      "members",
      `{${Array.from({ length: 20_001 }, (_, at) => `"k${at}":0`).join()}}`,
      "An object has more than 20000 members",
    ],
  ])("is refused when it has too many %s", async (_what, text, reason) => {
    await expect(parseJsonInTurns(Buffer.from(text))).rejects.toThrow(new JsonError(reason));
  });

  it("may have as many as it wants where it is kept as it was written", async () => {
    const text = `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":[${"0,".repeat(20)}0]`).join()}}`;
    const places = { members: new Map([["a", { exact: "written" } as const]]) };
    const value = await parseJsonInTurns(Buffer.from(`{"a":${text}}`), places);
    expect((value as { a: { text: string } }).a.text === text).toBe(true);
  });
});
