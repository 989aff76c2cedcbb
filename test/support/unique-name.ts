import { randomBytes } from "node:crypto";

let counter = 0;

/**
 * Gives a name nobody else in the run uses, and no other try of the same test: one that is tried again finds what its first try made, and
 * must not take it for its own.
 */
export function uniqueName(prefix: string): string {
  counter += 1;
  return `${prefix}-${process.pid.toString(36)}-${counter}-${randomBytes(3).toString("hex")}`;
}
