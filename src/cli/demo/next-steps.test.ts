import { execFileSync } from "node:child_process";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { quoted } from "./next-steps.ts";

describe("quoted", () => {
  it("is one word to the shell, whatever it contains", () => {
    const texts = fc.sample(
      fc.string({ unit: "binary", minLength: 0 }).filter((text) => !text.includes("\0")),
      40,
    );
    for (const text of [...texts, "it's", '$HOME `x` "y" \\', "a\nb"])
      if (text.isWellFormed())
        expect(execFileSync("/bin/sh", ["-c", `printf %s ${quoted(text)}`]).toString("utf8")).toBe(text);
  });
});
