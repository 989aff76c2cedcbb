/** What may happen to a policy, as its history tells it. */
export const policyEventTypes = [
  "creation",
  "metadata_update",
  "new_version",
  "renaming",
  "archiving",
] as const;

/** How long the parts of a policy may be, in characters. */
export const policyLimits = { description: 10_000, comment: 10_000, policyNames: 1000 } as const;

/**
 * Bytes of all versions of all policies of an organization together. Lists show every text, and no text can be
 * removed.
 */
export const maxPolicyBytes = 64 * 1024 * 1024;

/** 404 for a name that no policy has. */
export function unknownPolicy(name: string, org: string): string {
  return `Policy '${name}' does not exist in organization '${org}'`;
}

/** Said to those who may change an environment, but not what is asked of it. */
export const mayNotAttach = "User does not have permission to attach policy";
export const mayNotDetach = "User does not have permission to detach policy";

/** 404 for a fingerprint that is not on an environment's allow-list. */
export function notAllowListed(fingerprint: string, environment: string): string {
  return `Artifact with fingerprint '${fingerprint}' is not allow-listed in environment '${environment}'`;
}

/** The last moment a range may name: the end of the year 9999, Unix seconds. */
export const latestTimestamp = 253_402_300_799;

/** How much a policy can be tried on at once. */
export const previewLimits = {
  environments: 100,
  snapshots: 1000,
  /** Rows of what ran: one for each time something about an artifact changed. */
  artifacts: 10_000,
} as const;
