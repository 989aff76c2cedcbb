/** Lets work go on side by side, and some of it alone. */
export interface Solitude {
  /** Runs work beside other work, once nothing runs alone or waits to do so. */
  beside<T>(work: () => Promise<T>): Promise<T>;
  /** Runs work while nothing else runs: waits for what is under way and has everything after it wait. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** Makes a place where nothing runs yet. */
export function createSolitude(): Solitude {
  const running = new Set<Promise<unknown>>();
  /** Settles when the last one that asked to be alone is done; undefined when none is there. */
  let lastAlone: Promise<void> | undefined;

  async function afterOthers<T>(before: Promise<void> | undefined, work: () => Promise<T>): Promise<T> {
    await before;
    await Promise.allSettled(running);
    return work();
  }

  return {
    beside: async (work) => {
      for (let before = lastAlone; before !== undefined; before = lastAlone) await before;
      const done = work();
      running.add(done);
      try {
        return await done;
      } finally {
        running.delete(done);
      }
    },
    alone: async (work) => {
      const mine = afterOthers(lastAlone, work);
      const settled = mine.then(
        () => {},
        () => {},
      );
      lastAlone = settled;
      try {
        return await mine;
      } finally {
        if (lastAlone === settled) lastAlone = undefined;
      }
    },
  };
}
