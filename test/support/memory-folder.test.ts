import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { folderOnDisk, useMemory } from "./memory-folder.ts";

beforeEach(() => {
  vi.stubEnv("TMPDIR", undefined);
  vi.stubEnv("WAYBILL_TEST_DISK", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** The folder that a run leaves which was killed. */
function leftBehind(memory: string): string {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const folder = join(memory, `waybill-tests-${pid}`);
  mkdirSync(folder);
  writeFileSync(join(folder, "left"), "");
  return folder;
}

it("has the temporary files of a run in memory, and those on the disk still to be found", ({ skip }) => {
  const disk = tmpdir();
  const leave = useMemory();
  const folder = tmpdir();
  if (folder === disk) skip("This machine has no room in memory");
  expect(existsSync(folder)).toBe(true);
  expect(folderOnDisk()).toBe(disk);
  writeFileSync(join(folder, "some"), "");
  leave();
  expect([existsSync(folder), tmpdir()]).toEqual([false, disk]);
});

it("removes what killed runs left there, and nothing of those that run", ({ skip }) => {
  const first = useMemory();
  if (process.env["TMPDIR"] === undefined) skip("This machine has no room in memory");
  const memory = dirname(tmpdir());
  first();
  const running = join(memory, `waybill-tests-${process.ppid}`);
  const isThere = existsSync(running);
  const left = leftBehind(memory);
  const leave = useMemory();
  expect([existsSync(left), existsSync(running)]).toEqual([false, isThere]);
  leave();
});

it("leaves them where TMPDIR says", () => {
  vi.stubEnv("TMPDIR", "/somewhere");
  useMemory()();
  expect([process.env["TMPDIR"], folderOnDisk()]).toEqual(["/somewhere", "/somewhere"]);
});
