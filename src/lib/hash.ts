import { createHmac, hash, timingSafeEqual } from "node:crypto";

/** SHA-256 of text (as UTF-8) or bytes. */
export function sha256(data: string | Uint8Array): Buffer {
  return hash("sha256", data, "buffer");
}

/** Lower-case hex HMAC-SHA256 (RFC 2104) of exactly these bytes. */
export function hmacSha256Hex(secret: string, data: Uint8Array): string {
  return createHmac("sha256", secret).update(data).digest("hex");
}

/** Compares two texts in a time that tells nothing about where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

/** Base64 of the HMAC-SHA256 (RFC 2104) of exactly these bytes. */
export function hmacSha256Base64(key: Uint8Array, data: Uint8Array): string {
  return createHmac("sha256", key).update(data).digest("base64");
}
