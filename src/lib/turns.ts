/** Callers that wait for a turn, in order of arrival. */
const waiting: (() => void)[] = [];

/**
 * Rounds of the event loop for each piece of long work. A round accepts one new connection, and a request takes several
 * from its first byte to its answer: the rounds without a piece are short and bring them forward.
 */
const roundsAPiece = 5;

/** Milliseconds for which long work holds the event loop at a time; its last step may take as long again. */
const sliceMs = 10;

/** Milliseconds of long work in the turn of the event loop that goes on. */
let spent = 0;

function beginTurn(): void {
  spent = 0;
}

function admit(): void {
  beginTurn();
  waiting.shift()?.();
  if (waiting.length > 0) afterRounds(roundsAPiece, admit);
}

function afterRounds(rounds: number, then: () => void): void {
  setImmediate(rounds === 1 ? then : () => afterRounds(rounds - 1, then));
}

/**
 * Waits for a turn to do a piece of long work. Such work, for instance an answer of many megabytes, asks for a turn
 * before each piece of a few milliseconds. The whole process does one such piece at a time, so that everything else
 * waits for one piece at most.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) afterRounds(roundsAPiece, admit);
  });
}

/** Says whether somebody waits for a turn already. */
export function someoneWaits(): boolean {
  return waiting.length > 0;
}

/** Tells for how many milliseconds long work may still hold the event loop in this turn; none when it is not above zero. */
export function leftInTurn(): number {
  return sliceMs - spent;
}

/** Notes that long work has held the event loop for so many milliseconds: what follows in the same turn has so much less. */
export function spendInTurn(ms: number): void {
  if (spent === 0) setImmediate(beginTurn);
  spent += ms;
}
