/**
 * Kinds of environments, by where their reports come from; `logical` ones group others and have no reports (interface
 * spec 2).
 */
export const environmentTypes = [
  "K8S",
  "ECS",
  "S3",
  "lambda",
  "server",
  "docker",
  "azure-apps",
  "cloud-run",
  "logical",
] as const;

export type EnvironmentType = (typeof environmentTypes)[number];

/** Keys by which the list of environments can be sorted (interface spec 4.1). */
export const environmentSorts = [
  "name",
  "last_modified_at",
  "last_changed_at",
  "last_reported_at",
  "state",
] as const;
export type EnvironmentSort = (typeof environmentSorts)[number];

/**
 * States by which environments can be listed. The verdict is unknown without policies, and before the first report;
 * logical environments have no reports, so none is missing.
 */
export const environmentStates = ["COMPLIANT", "NON-COMPLIANT", "UNKNOWN", "NEVER-REPORTED"] as const;
export type EnvironmentState = (typeof environmentStates)[number];

export const sortDirections = ["asc", "desc"] as const;
export type SortDirection = (typeof sortDirections)[number];

/** The error of putting something into an environment that is not logical, or a logical one into another. */
export const onlyPhysicalInLogical = "Can only add physical environments to logical environments";

/**
 * Says what is wrong with giving members to an environment; undefined when nothing is. Only logical environments have
 * members, and only physical ones are members.
 */
export function membershipProblem(
  groupType: string,
  members: readonly { type: string }[],
): string | undefined {
  if (members.length === 0) return undefined;
  if (groupType !== "logical") return onlyPhysicalInLogical;
  return members.some(({ type }) => type === "logical") ? onlyPhysicalInLogical : undefined;
}

/** Says that no environment has or had this name (404). */
export function unknownEnvironment(name: string, org: string): string {
  return `Environment named '${name}' does not exist for organization '${org}'`;
}

/** Says that the environment of this name is archived (404). */
export function archivedEnvironment(name: string, org: string): string {
  return `Environment named '${name}' has been archived for organization '${org}'`;
}
