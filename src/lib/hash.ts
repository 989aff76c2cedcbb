import { createHmac, hash, timingSafeEqual } from "node:crypto";

/** Computes the SHA-256 of text (as UTF-8) or bytes. */
export function sha256(data: string | Uint8Array): Buffer {
  return hash("sha256", data, "buffer");
}

/** Computes the HMAC-SHA256 (RFC 2104) of these bytes, in lower-case hex. */
export function hmacSha256Hex(secret: string, data: Uint8Array): string {
  return createHmac("sha256", secret).update(data).digest("hex");
}

/** Says whether two texts are equal, in a time that does not reveal where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

/** Computes the HMAC-SHA256 (RFC 2104) of these bytes, in base64. */
export function hmacSha256Base64(key: Uint8Array, data: Uint8Array): string {
  return createHmac("sha256", key).update(data).digest("base64");
}
