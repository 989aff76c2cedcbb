import { expect, it } from "vitest";

import { arrayPieces } from "./json-array.ts";

async function joined(...parts: string[]): Promise<unknown> {
  const pieces: string[] = [];
  for await (const piece of arrayPieces(
    (async function* () {
      yield* parts;
    })(),
  ))
    pieces.push(piece);
  return JSON.parse(pieces.join(""));
}

it("makes one array of parts", async () => {
  expect(await joined()).toEqual([]);
  expect(await joined("", "")).toEqual([]);
  expect(await joined("1,2", "", "3", "4,5")).toEqual([1, 2, 3, 4, 5]);
  expect(await joined("", "{}")).toEqual([{}]);
});
