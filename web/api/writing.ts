/** Each says whether something is written that would be lost with the page. */
const guards = new Set<() => boolean>();

/** Has something that may be written looked after. @returns what ends that. */
export function guardWriting(isChanged: () => boolean): () => void {
  guards.add(isChanged);
  return () => guards.delete(isChanged);
}

/** Says whether something is written that would be lost with the page. */
export function isWriting(): boolean {
  return [...guards].some((isChanged) => isChanged());
}
