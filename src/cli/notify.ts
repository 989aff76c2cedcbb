import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { Logger } from "../lib/log.ts";

const execute = promisify(execFile);

/** How long the service manager may take to hear it, in milliseconds. */
const waitMs = 10_000;

/**
 * Tells the service manager what has become of the server: sd_notify(3). Node.js cannot send what that takes, so a program of systemd does. One
 * that cannot be told is no reason to stop.
 */
export async function notifyManager(
  log: Pick<Logger, "warn">,
  state: "READY=1" | "STOPPING=1",
): Promise<void> {
  try {
    await execute("systemd-notify", [state], { timeout: waitMs });
  } catch (err) {
    log.warn({ err }, "the service manager could not be told");
  }
}
