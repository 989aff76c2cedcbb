import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { pdfText } from "./pdf-text.ts";

describe("pdfText", () => {
  it.each([
    ["web-ci", "web-ci"],
    ["Größe – 5 €", "Größe – 5 €"],
    ["e\u0301", "é"],
    ["中\u{1f600}", "[U+4E2D][U+1F600]"],
    ["a\u00adb\u202ec\u0007d\u0085e\ufffd", "a[U+00AD]b[U+202E]c[U+0007]d[U+0085]e[U+FFFD]"],
    ["  two\r\n\tlines ", "two lines"],
    ["", ""],
  ])("writes %j as %j", (text, printed) => {
    expect(pdfText(text)).toBe(printed);
  });

  it("cuts between characters, and says so", () => {
    expect(pdfText("12345", 5)).toBe("12345");
    expect(pdfText("123456", 5)).toBe("12345 [cut]");
    expect(pdfText("\u{1f600}".repeat(9), 8)).toBe("[U+1F600][U+1F600] [cut]");
    expect(pdfText("é".repeat(1_000_000), 3)).toBe("ééé [cut]");
  });

  it("gives nothing that the fonts lack, and nothing without end", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
        const printed = pdfText(text, 100);
        expect(printed).toMatch(/^[ -~\u00a0-\u00ac\u00ae-\u00ffƒ–—‘’‚“”„†‡•…€‰‹›ˆ™ŒœŠš˜ŸŽž]*$/);
        expect(printed.length).toBeLessThanOrEqual(300 + " [cut]".length);
      }),
      { seed: 7 },
    );
  });
});
