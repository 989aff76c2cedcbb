import { compactVerify, createRemoteJWKSet, customFetch, errors, type RemoteJWKSet } from "jose";
import type { ServerMetadata } from "openid-client";

import { away, boundedFetch, causedByAway, timeoutSeconds } from "./request-service.ts";

/** Signatures that only the owner of a private key can make (RFC 7518, section 3.1; RFC 8037). */
const algorithms = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");

/**
 * How long the provider's keys are kept, and for how long nobody can have them read once more by naming an unknown one, in milliseconds:
 * keys that change are known at once, and whoever sends tokens that are made up has the provider asked once a second.
 */
const keys = { cacheMaxAge: 300_000, cooldownDuration: 1_000 };

/** Makes what finds the key of a token among those of the provider. */
function keysAt(address: string): RemoteJWKSet {
  return createRemoteJWKSet(new URL(address), {
    ...keys,
    timeoutDuration: timeoutSeconds * 1000,
    [customFetch]: (url, options) =>
      boundedFetch(url, { ...options, body: null, headers: Object.fromEntries(options.headers) }),
  });
}

/** What went wrong says that the keys could not be read, not that the token is made up. */
function isAway(error: unknown): boolean {
  return causedByAway(error) || error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
}

/**
 * Makes what says whether the provider signed a token, with keys that are kept for five minutes.
 * @returns a function that throws AppError unavailable when the keys cannot be read.
 */
export function createSignatureCheck(
  metadata: () => Promise<ServerMetadata>,
): (token: string) => Promise<boolean> {
  let known: { address: string; find: RemoteJWKSet } | undefined;
  return async (token) => {
    const { jwks_uri: address } = await metadata();
    if (address === undefined) throw away(new Error("The sign-in provider names no keys"));
    if (known?.address !== address) known = { address, find: keysAt(address) };
    try {
      await compactVerify(token, known.find, { algorithms });
      return true;
    } catch (error) {
      if (isAway(error)) throw away(error);
      return false;
    }
  };
}
