/**
 * Lets all who ask at a time share the answer: who asks while an answer is under way gets the next one, for which `work`
 * begins after they asked. So an answer is never older than its question, and at most two runs are wanted at a time.
 */
export function sharedRuns<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  function begin(): Promise<T> {
    const run = work();
    current = run;
    const end = (): void => {
      if (current === run) current = undefined;
    };
    run.then(end, end);
    return run;
  }

  return () => {
    if (next !== undefined) return next;
    if (current === undefined) return begin();
    const following = (): Promise<T> => {
      next = undefined;
      return begin();
    };
    next = current.then(following, following);
    return next;
  };
}
