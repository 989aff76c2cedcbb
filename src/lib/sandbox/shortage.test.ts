import { expect, it } from "vitest";

import { JqLimit, MemoryShortage, newRun, replaceImports } from "./jq-host.ts";
import { createSandbox, SandboxUnavailable } from "./sandbox.ts";

it("is not held against a program when no thread can be started", async () => {
  const startThread = (): never => {
    throw new Error("no room for a thread");
  };
  const sandbox = createSandbox({ startThread });
  const job = { input: "1", steps: [{ kind: "run" as const, program: "." }] };
  await expect(sandbox.run("a", job)).rejects.toThrow(SandboxUnavailable);
  expect(sandbox.threads()).toBe(0);
  await sandbox.close();
});

const names = [
  "_fd_read _fd_write ___syscall_openat ___syscall_stat64 ___syscall_lstat64 ___syscall_newfstatat",
  "___syscall_readlinkat _fd_seek _environ_sizes_get _environ_get",
]
  .join(" ")
  .split(" ");

it("tells a machine without memory from a program that wants too much", () => {
  let has = true;
  function _emscripten_resize_heap(): boolean {
    return has;
  }
  const others = names.map((name) => [name, Object.defineProperty(() => 0, "name", { value: name })]);
  const run = newRun(".", "1", () => {});
  const { env } = replaceImports(
    { env: { ...Object.fromEntries(others), grow: _emscripten_resize_heap } },
    run,
  );
  const grow = env!["grow"]!;
  expect(grow(1024)).toBe(true);
  expect(run.exceeded).toBeUndefined();
  has = false;
  expect(grow(1024)).toBeFalsy();
  expect(run.exceeded).toBeInstanceOf(MemoryShortage);
  expect(grow(1024 * 1024 * 1024)).toBeFalsy();
  expect(run.exceeded).toBeInstanceOf(JqLimit);
});
