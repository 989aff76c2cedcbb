import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

import { sha256 } from "./hash.ts";

/** Encryption of secrets that have to be read again, such as signing secrets and target addresses. */
export interface SecretBox {
  seal(text: string): Buffer;
  /** Decrypts. @throws Error when the bytes were not sealed with this key, or were changed since. */
  open(sealed: Uint8Array): string;
  /** Derives 32 secret bytes from the key, the same for the same purpose. */
  derive(purpose: string): Buffer;
  /** A digest of the key that tells keys apart without revealing them. */
  readonly fingerprint: string;
}

const ivBytes = 12;
const tagBytes = 16;

/**
 * Creates a box that seals by AES-256-GCM with a fresh random nonce for each text; the sealed form is nonce, tag,
 * ciphertext.
 * @param key the instance's secret key, of any length with at least 32 random characters.
 */
export function createSecretBox(key: string): SecretBox {
  const secret = Buffer.from(hkdfSync("sha256", key, "", "waybill secret box", 32));
  return {
    fingerprint: sha256(`fingerprint ${key}`).toString("hex").slice(0, 16),
    derive(purpose) {
      return Buffer.from(hkdfSync("sha256", key, "", `waybill derived ${purpose}`, 32));
    },
    seal(text) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", secret, iv);
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
    },
    open(sealed) {
      const bytes = Buffer.from(sealed);
      const decipher = createDecipheriv("aes-256-gcm", secret, bytes.subarray(0, ivBytes));
      decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      return decipher.update(bytes.subarray(ivBytes + tagBytes), undefined, "utf8") + decipher.final("utf8");
    },
  };
}
