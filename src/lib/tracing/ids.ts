import { randomBytes } from "node:crypto";

/** Random digits that ids are cut from: asking the system for each would cost as much as the rest of a span. */
let digits = "";
let taken = 0;

/** Makes a random id of 8 or 16 bytes. @returns it in hexadecimal digits. */
export function randomId(bytes: 8 | 16): string {
  const length = bytes * 2;
  if (taken + length > digits.length) {
    digits = randomBytes(2048).toString("hex");
    taken = 0;
  }
  taken += length;
  return digits.slice(taken - length, taken);
}
