/** What an entry in a control's history records. */
export const controlStatuses = ["Created", "Edited", "Archived", "Unarchived"] as const;
export type ControlStatus = (typeof controlStatuses)[number];

/** How long the parts of a control may be, in characters, and how many links it may have. */
export const controlLimits = {
  identifier: 256,
  description: 10_000,
  linkName: 128,
  link: 2048,
  links: 100,
} as const;

/** Identifiers whose URL means something else: relative path segments, and the list of tags. */
const reserved = new Set([".", "..", "tags"]);

/** Says whether an identifier is reserved, because its URL means something else. */
export function isReservedControlIdentifier(identifier: string): boolean {
  return reserved.has(identifier);
}

/** Reads a version number from a URL; undefined when no control can have it. */
export function parseControlVersion(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** Says that no control has this identifier (404). */
export function unknownControl(identifier: string, org: string): string {
  return `Control '${identifier}' does not exist in org '${org}'`;
}

/** Says that a control does not have this version (404). */
export function unknownControlVersion(version: string, identifier: string, org: string): string {
  return `Version ${version} of control '${identifier}' does not exist in org '${org}'`;
}

/** Says that there is no such decision on a control (404). */
export function unknownDecision(id: string, identifier: string, org: string): string {
  return `Decision '${id}' on control '${identifier}' does not exist in org '${org}'`;
}

/** Says that a control, archived or not, has this identifier already (409). */
export function controlExists(identifier: string, org: string): string {
  return `A control with identifier '${identifier}' already exists in organization '${org}'`;
}
