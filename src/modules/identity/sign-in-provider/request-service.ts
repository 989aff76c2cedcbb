import * as oidc from "openid-client";

import { isSafeProviderUrl, type OidcSettings } from "../../../config-oidc.ts";
import { AppError } from "../../../domain/errors.ts";

/** Seconds that the provider has for an answer. */
export const timeoutSeconds = 10;
const metadataLifeMs = 300_000;
/** Ten thousand groups have room. */
const mostAnswerBytes = 4 * 1024 * 1024;

/** Makes the error for a provider that does not answer, or not as it should. */
export const away = (cause: unknown): AppError =>
  new AppError("unavailable", "The sign-in provider cannot be reached, try again later", { cause });

/** What went wrong on the way to the provider: nothing that it said. */
export class ProviderAway extends Error {}

/** Reads an answer up to the limit. @throws ProviderAway when there is more. */
async function boundedBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > mostAnswerBytes) throw new ProviderAway("The sign-in provider's answer is too long");
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}

/** Asks the provider: over TLS or on this machine only, following nothing, and reading no more than the limit. */
export const boundedFetch: oidc.CustomFetch = async (address, { body, ...options }) => {
  const url = new URL(address);
  if (!isSafeProviderUrl(url)) throw new ProviderAway("The sign-in provider names an address without TLS");
  let response: Response;
  let answer: Uint8Array<ArrayBuffer>;
  try {
    response = await fetch(url, {
      ...options,
      ...(body == null ? {} : { body: body as NonNullable<RequestInit["body"]> }),
    });
    answer = await boundedBody(response);
  } catch (error) {
    throw error instanceof ProviderAway
      ? error
      : new ProviderAway("The sign-in provider cannot be reached", { cause: error });
  }
  if (response.status >= 500) throw new ProviderAway(`The sign-in provider answers ${response.status}`);
  const { status, statusText, headers } = response;
  return new Response(answer.length === 0 ? null : answer, { status, statusText, headers });
};

/** Says whether something failed because the provider is away: the error itself, or what caused it. */
export function causedByAway(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if (one instanceof ProviderAway || one.name === "TimeoutError" || one.name === "AbortError") return true;
  return false;
}

/** Names what went wrong in the terms of the client library; never a text of the provider. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" && /^[A-Z_]{1,64}$/.test(code) ? code : "unknown";
}

async function discover(settings: OidcSettings): Promise<oidc.ServerMetadata> {
  try {
    const found = await oidc.discovery(new URL(settings.issuer), settings.clientId, undefined, oidc.None(), {
      timeout: timeoutSeconds,
      [oidc.customFetch]: boundedFetch,
      execute: [oidc.allowInsecureRequests],
    });
    return found.serverMetadata();
  } catch (error) {
    // Whatever it is, no person can mend it by signing in otherwise.
    throw away(causedByAway(error) ? error : new Error(`discovery failed: ${codeOf(error)}`));
  }
}

/** Keeps the provider's metadata for five minutes; those who wait for it wait together. */
export function metadataSource(settings: OidcSettings): () => Promise<oidc.ServerMetadata> {
  let kept: { at: number; metadata: Promise<oidc.ServerMetadata> } | undefined;
  return () => {
    const now = performance.now();
    if (kept !== undefined && now - kept.at < metadataLifeMs) return kept.metadata;
    const asked = { at: now, metadata: discover(settings) };
    kept = asked;
    asked.metadata.catch(() => {
      if (kept === asked) kept = undefined;
    });
    return asked.metadata;
  };
}
