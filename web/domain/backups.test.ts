import { describe, expect, it } from "vitest";

import { bytesInWords, fileName, runStateWords } from "./backups.ts";

describe("runStateWords", () => {
  it.each([
    [{ state: "running", problem: null }, ["quiet", "under way"]],
    [{ state: "succeeded", problem: null }, ["good", "succeeded"]],
    [{ state: "succeeded", problem: "2 files are missing" }, ["warn", "with warnings"]],
    [{ state: "failed", problem: "no room" }, ["bad", "failed"]],
    [{ state: "interrupted", problem: null }, ["bad", "interrupted"]],
  ] as const)("%j", (run, words) => {
    expect(runStateWords(run)).toEqual(words);
  });
});

describe("bytesInWords", () => {
  it.each([
    [0, "0 bytes"],
    [999, "999 bytes"],
    [1000, "1.0 kB"],
    [63_456_789, "63.5 MB"],
    [999_900_000, "1000 MB"],
    [5e15, "5000 TB"],
  ])("%d is %s", (bytes, words) => {
    expect(bytesInWords(bytes)).toBe(words);
  });
});

describe("fileName", () => {
  it("is what stands after the folder", () => {
    expect(fileName("/mnt/backups/waybill-1.tar")).toBe("waybill-1.tar");
    expect(fileName("-")).toBeUndefined();
    expect(fileName(null)).toBeUndefined();
  });
});
