import { randomBytes } from "node:crypto";

/** A source of new ids. Tests may pass one they control. */
export interface IdSource {
  next(): string;
}

const wirePattern = /^[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{8}$/;

/** The nil UUID (RFC 9562): before the id of anything, and the id of nothing. */
export const nilId = "00000000-0000-0000-0000-000000000000";

/** How many ids' randomness is fetched at once: asking the system for each id costs more than all the rest. */
const idsAtATime = 512;

/** Makes a function that gives six random bytes at each call, as hexadecimal digits. */
function createRandomDigits(): () => string {
  let pool = "";
  let used = 0;
  return () => {
    if (used === pool.length) {
      pool = randomBytes(6 * idsAtATime).toString("hex");
      used = 0;
    }
    used += 12;
    return pool.slice(used - 12, used);
  };
}

/**
 * Makes a source of UUIDs of version 7 (RFC 9562): 48 bits of Unix milliseconds, then a 12-bit counter that orders the
 * ids of one millisecond, then randomness. The last 16 bits are zero, so that the wire form can leave them out without
 * loss.
 */
export function createIdSource(milliseconds: () => number = Date.now): IdSource {
  let last = 0;
  let counter = 0;
  const random = createRandomDigits();
  return {
    next() {
      const now = milliseconds();
      if (now > last) {
        last = now;
        counter = 0;
      } else if (++counter > 0xfff) {
        last += 1;
        counter = 0;
      }
      const digits = random();
      const variant = (0x80 | (Number.parseInt(digits.slice(0, 2), 16) & 0x3f)).toString(16);
      const time = last.toString(16).padStart(12, "0");
      const order = (0x7000 | counter).toString(16);
      return `${time.slice(0, 8)}-${time.slice(8)}-${order}-${variant}${digits.slice(2, 4)}-${digits.slice(4)}0000`;
    },
  };
}

/** Gives the form an id takes on the wire: lower-case hex in groups 8-4-4-4-8. */
export function wireId(id: string): string {
  return id.slice(0, 32);
}

/** Gives the form on the wire of an id that may be missing; null for none. */
export function wireIdOrNull(id: string | null): string | null {
  return id === null ? null : wireId(id);
}

/** Gives the stored form of an id from the wire; undefined for a text that is no id, by which nothing can be found. */
export function parseWireId(text: string): string | undefined {
  return wirePattern.test(text) ? `${text}0000` : undefined;
}
