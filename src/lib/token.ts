import { randomBytes } from "node:crypto";

/** Makes 256 random bits, as a text of 43 characters that may stand in cookies, addresses and settings: base64url (RFC 4648). */
export function createToken(): string {
  return randomBytes(32).toString("base64url");
}
