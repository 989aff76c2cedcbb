/** A commit, a fingerprint, or the beginning of one. */
export const searchPattern = /^[a-fA-F0-9]{5,64}$/;

export const searchLimits = {
  /** Most commits, and most fingerprints, that are counted. */
  matches: 1000,
  artifacts: 100,
  /** Starts and exits of all artifacts found. */
  events: 1000,
} as const;

/**
 * Decides what a searched text means: the only commit or fingerprint that begins with it, else several. Undefined when
 * nothing does.
 */
export function resolveMatches(
  fingerprints: readonly string[],
  commits: readonly string[],
): { type: "commit" | "fingerprint" | "multiple"; full_match: string } | undefined {
  const full_match = fingerprints[0] ?? commits[0];
  if (full_match === undefined) return undefined;
  if (fingerprints.length + commits.length > 1) return { type: "multiple", full_match };
  return { type: commits.length === 1 ? "commit" : "fingerprint", full_match };
}
