import { expect, it } from "vitest";

import { runCommand } from "../../src/jobs/run-command.ts";
import { programVersion } from "../../src/open-database.ts";

it("runs no command of another version, whose files are there now, and says what to do", async () => {
  await expect(runCommand(["--version"], "0.0.9", new AbortController().signal)).rejects.toThrow(
    `Version 0.0.9 runs, and its files are those of ${programVersion()}: restart the server`,
  );
});

it("starts nothing when it is stopped while it looks at the files", async () => {
  const stop = new AbortController();
  const running = runCommand(["--version"], programVersion(), stop.signal);
  stop.abort(new Error("The server stops"));
  await expect(running).rejects.toThrow("The server stops");
});
