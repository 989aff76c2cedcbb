import * as oidc from "openid-client";

import { isSafeProviderUrl, type OidcSettings } from "../../../config-oidc.ts";
import { AppError } from "../../../domain/errors.ts";
import { type Claims, claimAt } from "../../../domain/sign-in/claims.ts";

/** What has to come back unchanged with the code of one sign-in. */
interface SignInChecks {
  state: string;
  nonce: string;
  /** Proof key (RFC 7636). */
  verifier: string;
}

/** A person as the provider vouches for them. */
export interface ProvedPerson {
  subject: string;
  claims: Claims;
}

/** The OpenID provider, spoken to by the code flow with PKCE. */
export interface SignInProvider {
  /** Gives where to send the browser. @throws AppError unavailable when the provider is away. */
  begin(checks: SignInChecks, redirectUri: string): Promise<URL>;
  /**
   * Finds out who comes back.
   * @param callback the address that the browser came back to, with its parameters.
   * @throws SignInRefused when it proves nobody; AppError unavailable when the provider is away.
   */
  finish(checks: SignInChecks, callback: URL): Promise<ProvedPerson>;
}

/** A sign-in that proves nobody. Its reason is ours or the library's, never a text of the provider. */
export class SignInRefused extends Error {}

/** Subjects are at most 255 ASCII characters (OpenID Connect Core, section 2); we are not that narrow about which. */
const subjectPattern = /^\P{Cc}{1,255}$/u;
const timeoutSeconds = 10;
const skewSeconds = 60;
const metadataLifeMs = 300_000;
/** Ten thousand groups have room. */
const mostAnswerBytes = 4 * 1024 * 1024;

const away = (cause: unknown): AppError =>
  new AppError("unavailable", "The sign-in provider cannot be reached, try again later", { cause });

/** What went wrong on the way to the provider: nothing that it said. */
class ProviderAway extends Error {}

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
const boundedFetch: oidc.CustomFetch = async (address, { body, ...options }) => {
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
function causedByAway(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if (one instanceof ProviderAway || one.name === "TimeoutError" || one.name === "AbortError") return true;
  return false;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" && /^[A-Z_]{1,64}$/.test(code) ? code : "unknown";
}

/** Runs what speaks with the provider, and turns what went wrong into ours. */
async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SignInRefused) throw error;
    if (causedByAway(error)) throw away(error);
    throw new SignInRefused(codeOf(error));
  }
}

/** Chooses how the secret is sent: in the header, unless the provider takes it in the body alone (OpenID Connect Core, section 9). */
function clientAuth({ clientSecret }: OidcSettings, server: oidc.ServerMetadata): oidc.ClientAuth {
  if (clientSecret === undefined) return oidc.None();
  const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic")
    ? oidc.ClientSecretBasic(clientSecret)
    : oidc.ClientSecretPost(clientSecret);
}

/** Makes what speaks with the provider from its metadata, with keys that are read anew: the provider may have changed them. */
function configure(settings: OidcSettings, server: oidc.ServerMetadata): oidc.Configuration {
  const metadata = { [oidc.clockTolerance]: skewSeconds };
  const auth = clientAuth(settings, server);
  const configuration = new oidc.Configuration({ ...server }, settings.clientId, metadata, auth);
  configuration[oidc.customFetch] = boundedFetch;
  configuration.timeout = timeoutSeconds;
  // Addresses are looked at one by one as they are asked.
  oidc.allowInsecureRequests(configuration);
  oidc.enableNonRepudiationChecks(configuration);
  return configuration;
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
function metadataSource(settings: OidcSettings): () => Promise<oidc.ServerMetadata> {
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

function requireStrength({ acr }: OidcSettings, claims: Claims): void {
  if (acr === undefined || acr.includes(String(claims["acr"]))) return;
  throw new SignInRefused("ACR_NOT_MET");
}

/** Adds what UserInfo says where the ID token lacks something we look for. */
async function withUserInfo(
  settings: OidcSettings,
  configuration: oidc.Configuration,
  found: { subject: string; claims: Claims; accessToken: string },
): Promise<Claims> {
  const { subject, claims, accessToken } = found;
  const wanted = [settings.groupsClaim, settings.nameClaim, "email"];
  const isComplete = wanted.every((path) => claimAt(claims, path) !== undefined);
  if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const info = await oidc.fetchUserInfo(configuration, accessToken, subject);
  return { ...info, ...claims };
}

/** Makes what speaks with the provider of these settings. */
export function createSignInProvider(settings: OidcSettings): SignInProvider {
  const metadata = metadataSource(settings);
  const { scopes, acr, maxAge } = settings;
  return {
    begin: async ({ state, nonce, verifier }, redirectUri) => {
      const configuration = configure(settings, await metadata());
      const address = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopes,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...(acr === undefined ? {} : { acr_values: acr.join(" ") }),
        ...(maxAge === undefined ? {} : { max_age: String(maxAge) }),
      });
      if (isSafeProviderUrl(address)) return address;
      throw away(new ProviderAway("The sign-in provider names an address without TLS"));
    },
    finish: async ({ state, nonce, verifier }, callback) => {
      const configuration = configure(settings, await metadata());
      return asking(async () => {
        const tokens = await oidc.authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
          ...(maxAge === undefined ? {} : { maxAge }),
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new SignInRefused("NO_ID_TOKEN");
        if (!subjectPattern.test(claims.sub)) throw new SignInRefused("SUBJECT_NOT_VALID");
        requireStrength(settings, claims);
        const found = { subject: claims.sub, claims, accessToken: tokens.access_token };
        return { subject: claims.sub, claims: await withUserInfo(settings, configuration, found) };
      });
    },
  };
}
