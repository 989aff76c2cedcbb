/** Gives the items of what is there, or made as it is asked for, to who takes them one after the other in time. */
export async function* inTurn<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}
