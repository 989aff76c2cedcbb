import { pino } from "pino";

/** Bytes of log lines that are written at once. */
const together = 4096;

/** How long a line waits for others at most, in milliseconds. */
const patience = 100;

/**
 * Where the server's log goes: standard output. Lines that come close together are written together: a call of the
 * kernel for each line is a tenth of what a request costs. Lines still waiting are written when the process ends; only
 * those of the last moment are lost when it is killed.
 */
export function openLogOutput(): { write(line: string): void } {
  const output = pino.destination({ dest: 1, sync: true, minLength: together, periodicFlush: patience });
  process.once("exit", () => output.flushSync());
  return output;
}
