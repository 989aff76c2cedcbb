/** Whoever waits for a turn, the first to come first. */
const waiting: (() => void)[] = [];

function admit(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(admit);
}

/**
 * Waits until whatever else has come in meanwhile was looked at. Work that goes on for long, such as making an answer of
 * many megabytes, asks for a turn before each piece of a few milliseconds: of all such work in the process one piece is
 * done in each round of the event loop, however much of it there is, so that everybody else waits for one piece at most.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(admit);
  });
}

/** Whether somebody waits for a turn already. */
export function someoneWaits(): boolean {
  return waiting.length > 0;
}
