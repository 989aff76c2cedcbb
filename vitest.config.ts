import { defineConfig } from "vitest/config";

import { LongestFirst } from "./test/support/longest-first.ts";

export default defineConfig({
  test: {
    include: [
      "src/**/*.test.ts",
      "demo/**/*.test.ts",
      "bench/**/*.test.ts",
      "web/**/*.test.ts",
      "test/**/*.test.ts",
    ],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/seed.ts"],
    sequence: { sequencer: LongestFirst },
    pool: "forks",
    // Files share a process: modules are loaded once, which is most of a file's time.
    isolate: false,
    // What tests make is soon forgotten: with little room for what is young much of it is taken for old, and looked at again and again.
    execArgv: ["--max-semi-space-size=64"],
    // As many as the smallest machine has processors: tests that look at how long something takes need theirs.
    maxWorkers: 2,
    // For what hangs: a busy machine takes many times as long as a quiet one, and what a hook fails at is not tried again.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    // Machines that check changes do much else: what fails there is tried once more, and the report names it.
    retry: process.env["CI"] === undefined ? 0 : 1,
  },
});
