/** What an entry in a control's history tells: how the control came to be as the entry shows it. */
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

/** Whether a control of this identifier could not be reached by its URL. */
export function isReservedControlIdentifier(identifier: string): boolean {
  return reserved.has(identifier);
}

/** A version number as a URL has it; undefined when the text is none that a control can have. */
export function parseControlVersion(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** 404 for an identifier that no control has. */
export function unknownControl(identifier: string, org: string): string {
  return `Control '${identifier}' does not exist in org '${org}'`;
}

/** 404 for a version that a control does not have. */
export function unknownControlVersion(version: string, identifier: string, org: string): string {
  return `Version ${version} of control '${identifier}' does not exist in org '${org}'`;
}

/** 404 for a decision that was not made on a control. */
export function unknownDecision(id: string, identifier: string, org: string): string {
  return `Decision '${id}' on control '${identifier}' does not exist in org '${org}'`;
}

/** 409 for an identifier that a control has, archived or not. */
export function controlExists(identifier: string, org: string): string {
  return `A control with identifier '${identifier}' already exists in organization '${org}'`;
}
