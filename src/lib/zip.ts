/**
 * Pairs the items of two lists that stand at the same place.
 * @throws Error unless the lists are equally long.
 */
export function zip<L, R>(left: readonly L[], right: readonly R[]): [L, R][] {
  if (left.length !== right.length)
    throw new Error(`Lists of ${left.length} and ${right.length} items cannot be paired`);
  // oxlint-disable-next-line typescript/no-non-null-assertion -- the lists are equally long
  return left.map((item, at) => [item, right[at]!]);
}
