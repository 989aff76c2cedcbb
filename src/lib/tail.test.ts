import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { readTail } from "./tail.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-tail-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("readTail", () => {
  it.each([
    ["one\ntwo\nthree\n", 100, "one\ntwo\nthree\n", 0],
    ["one\ntwo\nthree\n", 14, "one\ntwo\nthree\n", 0],
    ["one\ntwo\nthree\n", 9, "three\n", 8],
    ["one\ntwo\nthree\n", 7, "three\n", 8],
    ["endless", 3, "ess", 4],
    ["", 3, "", 0],
  ])("reads of %j the last %i bytes from the beginning of a line", async (content, most, text, before) => {
    const file = join(folder, "log");
    await writeFile(file, content);
    expect(await readTail(file, most)).toEqual({ text, before });
  });

  it("refuses what is no file", async () => {
    await expect(readTail(folder, 1)).rejects.toThrow("is no file");
    await expect(readTail(join(folder, "none"), 1)).rejects.toThrow("ENOENT");
  });
});
