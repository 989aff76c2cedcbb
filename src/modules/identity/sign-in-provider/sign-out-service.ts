import type { OidcSettings } from "../../../config-oidc.ts";
import { transaction } from "../../../db/transaction.ts";
import type { Actor, Principal } from "../../../domain/principal.ts";
import { readLogoutToken } from "../../../domain/sign-in/logout-token.ts";
import { answerWithin } from "../../../lib/answer-within.ts";
import { sha256 } from "../../../lib/hash.ts";
import { recordEnds } from "../../kernel/access/session-ends-service.ts";
import { deleteSessionsAtProvider, findSessionProof } from "../../kernel/access/session-service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { signOut } from "../sessions/service.ts";
import type { SignInProvider } from "./provider-service.ts";
import { insertUsedLogoutToken } from "./store.ts";

/** A provider, and how it is set. */
export interface ProviderAt {
  settings: OidcSettings;
  provider: SignInProvider;
}

/** How long a person who signs out waits for the provider to say where, in milliseconds: their session has ended by then. */
const patienceMs = 3_000;

/** Path of the page that the provider sends people back to who have signed out. */
const signedOutPath = "/-/sign-in";

type SignOutDeps = Pick<Deps, "db" | "clock" | "ids" | "links" | "log" | "secrets">;

async function addressAt(
  { provider }: ProviderAt,
  deps: SignOutDeps,
  sealed: Buffer | null,
): Promise<URL | undefined> {
  try {
    const idToken = sealed === null ? undefined : deps.secrets.open(sealed);
    const asked = provider.endSession({ idToken, back: deps.links.web(signedOutPath) });
    return await answerWithin(patienceMs, asked, () => undefined);
  } catch (error) {
    deps.log.warn({ err: error }, "the sign-in provider does not say where people sign out");
    return undefined;
  }
}

/**
 * Ends the session of a request, whatever the provider says to that.
 * @param at the provider that is set; undefined without one.
 * @returns where to send the browser so that the person is signed out there, too; undefined for a session that was begun otherwise, and
 * where the provider does not answer or has no such place.
 * @throws AppError not_found for a request without a session.
 */
export async function signOutEverywhere(
  deps: SignOutDeps,
  at: ProviderAt | undefined,
  scope: { principal: Principal; actor: Actor },
): Promise<URL | undefined> {
  const { session_id } = scope.principal;
  const proof = session_id === null ? undefined : await findSessionProof(deps.db, session_id);
  await signOut(deps, scope, session_id);
  if (at === undefined || proof === undefined || proof.issuer !== at.settings.issuer) return undefined;
  return addressAt(at, deps, proof.id_token);
}

/**
 * Ends the sessions that the provider says have ended there (OpenID Connect Back-Channel Logout 1.0).
 * @param token what it sent; its signature is checked last, because that may need the provider.
 * @returns false for a token that is none, is forged, or was used before: then nothing happened.
 * @throws AppError unavailable when the provider's keys cannot be read.
 */
export async function endAtProvider(
  deps: SignOutDeps,
  { settings, provider }: ProviderAt,
  actor: Actor,
  token: string,
): Promise<boolean> {
  const { issuer, clientId } = settings;
  const now = deps.clock.now();
  const word = readLogoutToken(token, { issuer, clientId, now });
  if (word === undefined || !(await provider.hasSigned(token))) return false;
  const { subject, session, ends_at } = word;
  const name_hash = sha256(JSON.stringify([issuer, word.name]));
  return transaction(deps.db, async (tx) => {
    if (!(await insertUsedLogoutToken(tx, { name_hash, ends_at }, now))) return false;
    const ended = await deleteSessionsAtProvider(tx, { issuer, subject, session });
    for (const { id, personal_org_id } of ended)
      recordEnds(deps, tx, { org: { id: personal_org_id }, actor }, { ids: [id], action: "session_revoked" });
    return true;
  });
}
