/**
 * Every name pattern and limit of the public interface, once. Error texts quote patterns to the letter, and clients
 * compare those texts: so order and escapes in a pattern matter.
 */

/** Flow and trail names, also new names in renames of flows. */
export const flowNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9\.\-_~]*$/;
export const trailNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9\-_.~]*$/;

/** Environment names. `#`, `@` and `~` are missing: they begin a snapshot expression. */
export const environmentNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9\.\-_]*$/;

/** Names of artifacts in a flow template. */
export const templateReferenceNamePattern = /^[a-zA-Z0-9\-_]+$/;

/** Names of attestations and of target artifacts. The period is missing: it separates the two on the command line. */
export const attestationNamePattern = /^[a-zA-Z0-9\-_,]+$/;

export const policyNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9\-_\.~]*$/;
export const tagKeyPattern = /^[a-zA-Z0-9][a-zA-Z0-9\-_\.~]*$/;
export const controlIdentifierPattern = /^[a-zA-Z0-9\-._~]+$/;
export const customAttestationTypeNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9\.\-_~]*$/;

export const serviceAccountNamePattern = /^[a-zA-Z0-9\-]+$/;
export const serviceAccountNameLength = { min: 1, max: 64 };
export const serviceAccountDescriptionLength = 512;
export const apiKeyDescriptionLength = { min: 1, max: 256 };

export const actionNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9\-_\.~/]*$/;

/** Organizations and users share one namespace, because every user has an organization of the same name. */
export const organizationNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9\-_\.]*$/;
export const organizationNameLength = { min: 1, max: 128 };
/** Names that no organization and no user may take: they are where pages of theirs would be. Those that have one keep it. */
export const reservedNames: ReadonlySet<string> = new Set([
  "api",
  "live",
  "ready",
  "metrics",
  "health",
  "favicon.ico",
  "robots.txt",
]);
export const displayNameLength = 256;
export const organizationDescriptionLength = 4096;

/** Values of API keys that callers choose, such as keys brought from elsewhere: printable ASCII without blanks. */
export const chosenKeyPattern = /^[!-~]{20,512}$/;

export const fingerprintPattern = /^[a-f0-9]{64}$/;
/** The beginning of a fingerprint, which reads accept. */
export const fingerprintPrefixPattern = /^[a-f0-9]{5,64}$/;
export const gitCommitPattern = /^[a-f0-9]{40}$/;

export const externalUrlLabelPattern = /^[^=.]+$/;
export const annotationKeyPattern = /^[A-Za-z0-9_-]+$/;

/** The last moment an expiry may name: 1 January 2100, Unix seconds. */
export const latestExpiry = 4_102_444_800;

/** Highest page number of every list (interface spec 8). */
export const maxPage = 1_000_000;

/** Longest name where the contract sets no limit: enough for anything real, little enough for an index. */
export const maxNameLength = 512;

/** Gives the name of an archived resource, whose own becomes free again. */
export function archivedName(name: string, archivedAt: number): string {
  return `${name}-archived-at-${Math.floor(archivedAt)}`;
}
