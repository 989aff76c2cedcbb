/** Kinds of events in the history of a policy. */
export const policyEventTypes = [
  "creation",
  "metadata_update",
  "new_version",
  "renaming",
  "archiving",
] as const;

/** Longest parts of a policy, in characters, and most names in one request. */
export const policyLimits = { description: 10_000, comment: 10_000, policyNames: 1000 } as const;

/**
 * Most bytes of all versions of all policies of an organization together. Lists show every text, and no text can be
 * removed.
 */
export const maxPolicyBytes = 64 * 1024 * 1024;

/** Says that no policy has this name (404). */
export function unknownPolicy(name: string, org: string): string {
  return `Policy '${name}' does not exist in organization '${org}'`;
}

/** The refusals to callers who may change an environment, but not its policies. */
export const mayNotAttach = "User does not have permission to attach policy";
export const mayNotDetach = "User does not have permission to detach policy";

/** Says that a fingerprint is not on an environment's allow-list (404). */
export function notAllowListed(fingerprint: string, environment: string): string {
  return `Artifact with fingerprint '${fingerprint}' is not allow-listed in environment '${environment}'`;
}

/** The last moment of a time range: the end of the year 9999, Unix seconds. */
export const latestTimestamp = 253_402_300_799;

/** Limits of a preview: how much a policy is tried on at once. */
export const previewLimits = {
  environments: 100,
  snapshots: 1000,
  /** Rows of what ran: one for each change of an artifact. */
  artifacts: 10_000,
} as const;
