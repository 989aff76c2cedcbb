import { pino } from "pino";

/** Bytes of log lines that are written at once. */
const together = 4096;

/** How long a line waits for others at most, in milliseconds. */
const patience = 100;

/** Bytes that are kept for later while they cannot be written. */
const mostKept = 1024 * 1024;

function lossNotice(lost: number): string {
  const msg = `${lost} lines of this log are missing: they could not be written`;
  return `${JSON.stringify({ level: pino.levels.values["warn"], time: Date.now(), pid: process.pid, msg })}\n`;
}

/**
 * Opens the place where the server's log goes. Lines that come close together are written together: a call of the
 * kernel for each line is a tenth of what a request costs. Lines still waiting are written when the process ends; only
 * those of the last moment are lost when it is killed. While nothing can be written, on a full disk or to a reader that
 * has gone, the server goes on; the latest lines are dropped when too many wait, and the log tells how many.
 * @param descriptor of the open file to write to; standard output by default.
 */
export function openLogOutput(descriptor = 1): { write(line: string): void; flush(): void } {
  const output = pino.destination({
    dest: descriptor,
    sync: true,
    minLength: together,
    maxLength: mostKept,
  });
  let [lost, isFailing] = [0, false];
  let timer: NodeJS.Timeout | undefined;
  // A timer for what waits, rather than one that always runs: a server with nothing to say is not to be woken up for it.
  const flushSoon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      output.flush();
    }, patience).unref();
  };
  output.on("error", () => {
    isFailing = true;
    flushSoon();
  });
  output.on("write", () => (isFailing = false));
  output.on("drop", () => (lost += 1));
  const flush = (): void => {
    try {
      output.flushSync();
    } catch {
      // Nobody is left to be told.
    }
  };
  process.once("exit", flush);
  return {
    write: (line) => {
      if (lost > 0 && !isFailing) {
        const missing = lost;
        lost = 0;
        output.write(lossNotice(missing));
      }
      output.write(line);
      flushSoon();
    },
    flush,
  };
}
