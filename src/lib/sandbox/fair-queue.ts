/** A queue that serves its owners in turn, so that one with much to do does not hold up the others. */
export interface FairQueue<T> {
  /** Adds an item. @returns false when this owner has too many waiting already. */
  push(owner: string, item: T): boolean;
  /** Removes and gives the next item of the owner whose turn it is. */
  shift(): T | undefined;
}

/** Creates an empty queue. @param maxWaiting items that one owner may have waiting. */
export function createFairQueue<T>(maxWaiting: number): FairQueue<T> {
  // In the order in which the owners' turns come.
  const queues = new Map<string, T[]>();
  return {
    push(owner, item) {
      const queue = queues.get(owner);
      if (queue === undefined) queues.set(owner, [item]);
      else if (queue.length >= maxWaiting) return false;
      else queue.push(item);
      return true;
    },
    shift() {
      const [next] = queues;
      if (next === undefined) return undefined;
      const [owner, queue] = next;
      const item = queue.shift();
      queues.delete(owner);
      if (queue.length > 0) queues.set(owner, queue);
      return item;
    },
  };
}
