/** A list of at least one item. */
export type NonEmpty<T> = [T, ...T[]];

/** Groups items by a key; groups come in the order of their first items. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, NonEmpty<T>> {
  const groups = new Map<K, NonEmpty<T>>();
  for (const item of items) addTo(groups, keyOf(item), item);
  return groups;
}

/** Adds an item to the group of this key. */
export function addTo<T, K>(groups: Map<K, NonEmpty<T>>, key: K, item: T): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
}
