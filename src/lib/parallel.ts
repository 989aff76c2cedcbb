/**
 * Runs `work` for each item, at most `limit` at a time. Items are taken one by one, so the iteration may be endless.
 * After a failure no further item is begun.
 * @throws the first failure, once everything begun has ended.
 */
export async function eachInParallel<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const failures: unknown[] = [];
  async function worker(): Promise<void> {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  }
  await Promise.all(Array.from({ length: limit }, worker));
  if (failures.length > 0) throw failures[0];
}
