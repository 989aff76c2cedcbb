import { hmacSha256Base64 } from "../../lib/hash.ts";

/** What a signature is about: all three parts count, so that neither can be exchanged. */
interface SignedMessage {
  /** The delivery's id, by which receivers tell repetitions. */
  id: string;
  /** Of the attempt, in whole Unix seconds. */
  timestamp: number;
  body: string;
}

const secretPrefix = "whsec_";

/** Writes a signing key as users see it. */
export function printSigningSecret(key: Uint8Array): string {
  return secretPrefix + Buffer.from(key).toString("base64");
}

/**
 * Makes the headers of a signed webhook, as the Standard Webhooks specification 1.0 has them: HMAC-SHA256 over
 * `<id>.<timestamp>.<body>`, base64, one signature for each key that receivers may still have.
 */
export function signatureHeaders(
  message: SignedMessage,
  keys: readonly Uint8Array[],
): Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string> {
  const signed = Buffer.from(`${message.id}.${message.timestamp}.${message.body}`, "utf8");
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(message.timestamp),
    "webhook-signature": keys.map((key) => `v1,${hmacSha256Base64(key, signed)}`).join(" "),
  };
}
