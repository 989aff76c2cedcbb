import { type Logger, pino } from "pino";

import type { Config } from "../config.ts";

/** Bytes of log lines that are written at once. */
const together = 4096;

/** How long a line waits for others at most, in milliseconds. */
const patience = 100;

/**
 * The server's log, on standard output. Lines that come close together are written together: a call of the kernel for
 * each line is a tenth of what a request costs. Lines still waiting are written when the process ends; only those of the
 * last moment are lost when it is killed.
 */
export function openLog(level: Config["logLevel"]): Logger {
  const output = pino.destination({ dest: 1, sync: true, minLength: together });
  setInterval(() => output.flushSync(), patience).unref();
  process.once("exit", () => output.flushSync());
  return pino({ level }, output);
}
