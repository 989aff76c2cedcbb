/** What an environment's reports come from; `logical` groups others and has none of its own (interface spec 2). */
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

/** Orders of the environment list (interface spec 4.1). */
export const environmentSorts = ["name", "last_modified_at", "last_changed_at"] as const;
export type EnvironmentSort = (typeof environmentSorts)[number];

export const sortDirections = ["asc", "desc"] as const;
export type SortDirection = (typeof sortDirections)[number];

/** Said by every attempt to put into a group what is no member, or to put something into what is no group. */
export const onlyPhysicalInLogical = "Can only add physical environments to logical environments";

/**
 * What is wrong with giving members to an environment; undefined when nothing is. Only logical environments have
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

/** 404 for a name that no environment has or had. */
export function unknownEnvironment(name: string, org: string): string {
  return `Environment named '${name}' does not exist for organization '${org}'`;
}

/** 404 for a name whose environment is archived. */
export function archivedEnvironment(name: string, org: string): string {
  return `Environment named '${name}' has been archived for organization '${org}'`;
}
