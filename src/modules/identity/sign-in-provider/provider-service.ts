import * as oidc from "openid-client";

import { isSafeProviderUrl, type OidcSettings } from "../../../config-oidc.ts";
import { sessionSeconds } from "../../../domain/sessions.ts";
import { type Claims, claimAt } from "../../../domain/sign-in/claims.ts";
import { longestProviderText, skewSeconds } from "../../../domain/sign-in/logout-token.ts";
import {
  away,
  boundedFetch,
  causedByAway,
  codeOf,
  metadataSource,
  ProviderAway,
  timeoutSeconds,
} from "./request-service.ts";
import { createSignatureCheck } from "./signature-service.ts";

/** What has to come back unchanged with the code of one sign-in. */
interface SignInChecks {
  state: string;
  nonce: string;
  /** Proof key (RFC 7636). */
  verifier: string;
  /** Whether the person has to prove anew who they are, though they are signed in there. */
  renew: boolean;
}

/** A person as the provider vouches for them. */
export interface ProvedPerson {
  subject: string;
  claims: Claims;
  idToken: string;
  /** The provider's own name of the session there (`sid`); null where it says none. */
  session: string | null;
  /** When they last proved who they are (`auth_time`), in Unix seconds; null where the provider does not say. */
  provedAt: number | null;
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
  /**
   * Gives where to send a browser whose person signs out (OpenID Connect RP-Initiated Logout 1.0); undefined for a provider that has no such place.
   * @param signOut the ID token that the session began with, if it is known, and where to come back to.
   * @throws AppError unavailable when the provider is away.
   */
  endSession(signOut: { idToken: string | undefined; back: string }): Promise<URL | undefined>;
  /** Says whether the provider signed a token. @throws AppError unavailable when its keys cannot be read. */
  hasSigned(token: string): Promise<boolean>;
}

/** A sign-in that proves nobody. Its reason is ours or the library's, never a text of the provider. */
export class SignInRefused extends Error {}

/** Subjects are at most 255 ASCII characters (OpenID Connect Core, section 2); we are not that narrow about which. */
const subjectPattern = /^\P{Cc}{1,255}$/u;

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

/** What a provider answers to a client that it does not know, or whose secret it does not take (RFC 6749 section 5.2). */
const notTaken: ReadonlySet<unknown> = new Set(["invalid_client", "unauthorized_client"]);

/**
 * Finds out whether the provider takes the client's secret, by asking for a code that it never gave to be taken: who it is that asks is looked at first.
 * @returns undefined where there is no secret. @throws AppError unavailable when the provider is away.
 */
export async function isSecretTaken(
  settings: OidcSettings,
  redirectUri: string,
): Promise<boolean | undefined> {
  if (settings.clientSecret === undefined) return undefined;
  const configuration = configure(settings, await metadataSource(settings)());
  try {
    await oidc.genericGrantRequest(configuration, "authorization_code", {
      code: "waybill-doctor",
      redirect_uri: redirectUri,
      code_verifier: oidc.randomPKCECodeVerifier(),
    });
    return true;
  } catch (error) {
    if (causedByAway(error)) throw away(error);
    if (error instanceof oidc.WWWAuthenticateChallengeError) return false;
    return !(error instanceof oidc.ResponseBodyError && notTaken.has(error.error));
  }
}

/** Makes what speaks with the provider of these settings. */
export function createSignInProvider(settings: OidcSettings): SignInProvider {
  const metadata = metadataSource(settings);
  const { scopes, acr } = settings;
  return {
    hasSigned: createSignatureCheck(metadata),
    endSession: async ({ idToken, back }) => {
      const server = await metadata();
      if (server.end_session_endpoint === undefined) return undefined;
      const address = oidc.buildEndSessionUrl(configure(settings, server), {
        post_logout_redirect_uri: back,
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
      });
      return isSafeProviderUrl(address) ? address : undefined;
    },
    begin: async ({ state, nonce, verifier, renew }, redirectUri) => {
      const configuration = configure(settings, await metadata());
      const address = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopes,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...(acr === undefined ? {} : { acr_values: acr.join(" ") }),
        // Also without a limit: whoever is asked says when the person proved who they are (OpenID Connect Core, section 3.1.2.1).
        max_age: String(renew ? 0 : (settings.maxAge ?? sessionSeconds.total)),
        ...(renew ? { prompt: "login" } : {}),
      });
      if (isSafeProviderUrl(address)) return address;
      throw away(new ProviderAway("The sign-in provider names an address without TLS"));
    },
    finish: async ({ state, nonce, verifier, renew }, callback) => {
      const maxAge = renew ? 0 : settings.maxAge;
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
        const session = claims["sid"];
        return {
          subject: claims.sub,
          claims: await withUserInfo(settings, configuration, found),
          idToken: tokens.id_token ?? "",
          session: typeof session === "string" && session.length <= longestProviderText ? session : null,
          provedAt: claims.auth_time ?? null,
        };
      });
    },
  };
}
