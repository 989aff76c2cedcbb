/** A space, as far as its place in the tree goes. */
export interface Placed {
  id: string;
  name: string;
  /** Null at the root. */
  parent_id: string | null;
}

/** A space in a tree that is written down line by line. */
export interface TreeLine<Space extends Placed> {
  space: Space;
  /** How many are above it. */
  depth: number;
}

/** Groups spaces by what they are in. Those whose parent is not among them stand at the root. */
function byParent<Space extends Placed>(spaces: readonly Space[]): Map<string | null, Space[]> {
  const ids = new Set(spaces.map(({ id }) => id));
  const groups = new Map<string | null, Space[]>();
  for (const space of spaces) {
    const parent = space.parent_id !== null && ids.has(space.parent_id) ? space.parent_id : null;
    groups.set(parent, [...(groups.get(parent) ?? []), space]);
  }
  return groups;
}

/** Writes the tree of spaces line by line: each is followed by those in it, in the order they were given. */
export function treeLines<Space extends Placed>(spaces: readonly Space[]): TreeLine<Space>[] {
  const groups = byParent(spaces);
  const linesIn = (parent: string | null, depth: number): TreeLine<Space>[] =>
    (groups.get(parent) ?? []).flatMap((space) => [{ space, depth }, ...linesIn(space.id, depth + 1)]);
  return linesIn(null, 0);
}

/** Says why a space cannot go into another, or to the root; undefined when it can. */
export function moveRefusal(spaces: readonly Placed[], id: string, into: string | null): string | undefined {
  if (spaces.find((space) => space.id === id)?.parent_id === into) return "It is there already";
  if (id === into) return "A space cannot go into itself";
  const parents = new Map(spaces.map((space) => [space.id, space.parent_id]));
  const seen = new Set<string>();
  for (let above = into; above !== null && !seen.has(above); above = parents.get(above) ?? null) {
    if (above === id) return "A space cannot go into one below it";
    seen.add(above);
  }
  return undefined;
}

/** Writes where a space is: the names above it and its own. */
export function pathOfSpace(spaces: readonly Placed[], id: string | null): string {
  const known = new Map(spaces.map((space) => [space.id, space]));
  const names: string[] = [];
  for (let space = known.get(id ?? ""); space !== undefined; space = known.get(space.parent_id ?? "")) {
    names.unshift(space.name);
    if (names.length > spaces.length) break;
  }
  return names.join(" / ");
}
