/** A space's place in the tree; null is the root. */
export interface SpacePlace {
  id: string;
  parent_id: string | null;
}

/** Space names: any text without line breaks and without blanks at its ends. */
export const spaceNamePattern = /^\S(?:.*\S)?$/;
export const spaceNameLength = 128;

/** Says whether a space would become its own ancestor with `parentId` above it. */
export function wouldFormCycle(spaces: readonly SpacePlace[], id: string, parentId: string | null): boolean {
  const parents = new Map(spaces.map((space) => [space.id, space.parent_id]));
  const seen = new Set<string>();
  for (let above = parentId; above !== null && !seen.has(above); above = parents.get(above) ?? null) {
    if (above === id) return true;
    seen.add(above);
  }
  return false;
}

/** Says that there is no such space (404). */
export function unknownSpace(id: string, org: string): string {
  return `Space '${id}' does not exist in organization '${org}'`;
}
