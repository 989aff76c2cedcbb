/** Major version, minor version, patch. */
type Release = readonly [number, number, number];

/** Reads a version such as `1.4.2` as numbers; undefined for anything else. What follows a hyphen does not count. */
export function parseRelease(text: string): Release | undefined {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$/.exec(text) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

/** Orders versions, those that are none first. */
export function compareReleases(one: string, other: string): number {
  const none: Release = [-1, 0, 0];
  const [a, b] = [parseRelease(one) ?? none, parseRelease(other) ?? none];
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/**
 * Tells whether a program can work with a schema after a migration that it does not know: one of a version that is one minor ahead at
 * most, which only adds to the schema.
 */
export function isReadableBy(
  program: string,
  migration: { program: string | null; contracts: boolean },
): boolean {
  const [ours, theirs] = [parseRelease(program), parseRelease(migration.program ?? "")];
  if (ours === undefined || theirs === undefined || migration.contracts) return false;
  return ours[0] === theirs[0] && theirs[1] - ours[1] <= 1;
}
