import { expect, it } from "vitest";

import { writeJson } from "./exact-json.ts";
import { inTurn } from "./in-turn.ts";
import { LeftOutTexts } from "./left-out.ts";

const idOf = (at: number): string => `00000000-0000-7000-8000-00000000000${at}`;

/** Leaves out texts of one length each and puts them in again. @returns what was made, and what was read at once. */
async function putIn(order: readonly number[], lengthOfEach: number) {
  const leftOut = new LeftOutTexts(10);
  const places = new Map(order.map((at) => [at, leftOut.leaveOut(idOf(at), lengthOfEach)]));
  const items = order.toSorted((left, right) => left - right).map((at) => ({ at, text: places.get(at) }));
  const read: number[][] = [];
  let text = "";
  const pieces = leftOut.putInto(
    inTurn([writeJson(items.slice(0, 2)), writeJson(items.slice(2))]),
    async (ids) => {
      read.push(ids.map((id) => Number(id.at(-1))));
      // What is gone has no text.
      return new Map(
        ids.filter((id) => id !== idOf(5)).map((id) => [id, JSON.stringify(`text ${id.at(-1)}`)]),
      );
    },
  );
  for await (const piece of pieces) text += piece;
  expect(leftOut.isEmpty).toBe(true);
  const shown = items.map(({ at }) => ({ at, text: at === 5 ? null : `text ${at}` }));
  expect(text).toBe(JSON.stringify(shown.slice(0, 2)) + JSON.stringify(shown.slice(2)));
  return read;
}

it("puts in what was left out, a few texts at a time", async () => {
  expect(await putIn([1, 2, 3, 4, 5], 4)).toEqual([[1, 2], [3, 4], [5]]);
  expect(await putIn([1, 2, 3], 40)).toEqual([[1], [2], [3]]);
});

it("puts it in whatever order JSON has it in", async () => {
  expect(await putIn([3, 1, 2], 4)).toEqual([[1, 3], [2], [3]]);
});
