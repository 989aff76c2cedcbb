/**
 * Does something with each item, several at a time. Items are taken one by one when there is room, so an endless or
 * very long iteration is fine. After a failure no further item is begun.
 * @throws the first failure, when everything begun has ended.
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
