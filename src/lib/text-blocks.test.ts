import fc from "fast-check";
import { expect, it } from "vitest";

import { TextBlocks } from "./text-blocks.ts";

it("blocks have all that was added, in its order, each little more than 64 KB", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 20 })),
      fc.integer({ min: 1, max: 5000 }),
      (texts, times) => {
        const blocks = new TextBlocks();
        const added = texts.map((text) => text.repeat(times));
        for (const text of added) blocks.add(text);
        expect(blocks.all.join("")).toBe(added.join(""));
        const longest = Math.max(0, ...added.map(({ length }) => length));
        for (const block of blocks.all) expect(block.length).toBeLessThan(64 * 1024 + longest);
        for (const block of blocks.all.slice(0, -1)) expect(block.length).toBeGreaterThanOrEqual(64 * 1024);
      },
    ),
  );
});
