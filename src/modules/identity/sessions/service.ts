import type { CurrentUser } from "../../../contract/current-user.ts";
import type { Endpoint } from "../../../contract/endpoint.ts";
import type { Tx } from "../../../db/connect.ts";
import { transaction } from "../../../db/transaction.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Actor, Principal } from "../../../domain/principal.ts";
import { sha256 } from "../../../lib/hash.ts";
import { wireId } from "../../../lib/ids.ts";
import { identify } from "../../kernel/access/service.ts";
import {
  type Browser,
  createToken,
  endSession,
  openSession,
  ownerOf,
} from "../../kernel/access/session-service.ts";
import { appendRecord, type Recorder, recorded } from "../../kernel/audit/service.ts";
import type { Call } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { getProfile, getUserByName, homeOf } from "../users/service.ts";
import { attemptSignIn } from "./attempt-service.ts";
import { deleteSignInLink, findFirstAdministrator, findRefusedKey, insertSignInLink } from "./store.ts";

/** Somebody who wants to sign in. */
export interface Visitor {
  browser: Browser;
  /** Names the request in records; who makes it is not known yet. */
  actor: Actor;
}

/** Tells from a call who wants to sign in. */
export function visitorOf({
  actor,
  peer,
  headers,
}: Pick<Call<Endpoint>, "actor" | "peer" | "headers">): Visitor {
  const user_agent = headers["user-agent"]?.toString() ?? "";
  return { actor, browser: { user_agent, address: peer.address } };
}

/** A session that has begun: who it is, and what the cookie has to hold. */
export interface SignedIn {
  user: CurrentUser;
  token: string;
}

/** The owner of a new session. */
type Arrival = Omit<Principal, "session_id">;

/** Says who makes a request that came without credentials. What was sent is a secret, of which not even a hash is recorded. */
export function actorOf(visitor: Visitor, { kind, id, display_name: name, api_key_id }: Arrival): Actor {
  return { ...visitor.actor, kind, id, name, api_key_id, request_digest: null };
}

/** Begins a session for somebody who has shown who they are, and records it. */
export async function beginSession(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  begun: { owner: Arrival; browser: Browser; record: Recorder },
): Promise<{ id: string; token: string }> {
  const { owner, browser, record } = begun;
  const session = await openSession(deps, tx, {
    owner: ownerOf(owner),
    api_key_id: owner.api_key_id,
    browser,
  });
  record("session", wireId(session.id));
  return session;
}

export type SignInDeps = Pick<Deps, "db" | "clock" | "ids" | "log" | "metrics" | "signInFailures">;

/** Tells the owner of a key that somebody tried to sign in with it, though it does not work. Of unknown keys there is no owner. */
async function recordRefusal(deps: SignInDeps, visitor: Visitor, hash: Buffer): Promise<void> {
  const key = await findRefusedKey(deps.db, hash);
  if (key?.org_id == null) return;
  const scope = { org: { id: key.org_id }, actor: { ...visitor.actor, request_digest: null } };
  await recorded(deps, scope, async (_tx, record) => record("refused_sign_in", wireId(key.key_id)));
}

/** Signs somebody in with an API key. @throws AppError unauthenticated, rate_limited: see `attemptSignIn`. */
export function signInWithKey(deps: SignInDeps, visitor: Visitor, key: string): Promise<SignedIn> {
  const { browser } = visitor;
  return attemptSignIn(deps, { method: "api_key", browser }, async () => {
    const principal = await identify(deps, key);
    if (principal === undefined) {
      await recordRefusal(deps, visitor, sha256(key));
      return undefined;
    }
    const scope = { org: await homeOf(deps, principal), actor: actorOf(visitor, principal) };
    const { id, token } = await recorded(deps, scope, (tx, record) =>
      beginSession(deps, tx, { owner: principal, browser, record }),
    );
    return { user: await getProfile(deps, { ...principal, session_id: id }), token };
  });
}

/** Makes a principal of a user who shows who they are otherwise than by a key. */
export function arrivingUser(
  user: Pick<Principal, "id" | "name" | "display_name" | "instance_admin">,
): Arrival {
  const { id, name, display_name, instance_admin } = user;
  return { kind: "user", id, name, display_name, instance_admin, api_key_id: null, org_id: null };
}

/** Uses up the token of a link, and begins a session for its user. @returns undefined when the token does not work. */
async function redeemLink(deps: SignInDeps, visitor: Visitor, token: string): Promise<SignedIn | undefined> {
  const begun = await transaction(deps.db, async (tx) => {
    const user = await deleteSignInLink(tx, sha256(token), deps.clock.now());
    if (user === undefined) return undefined;
    const owner = arrivingUser(user);
    const scope = { org: { id: user.personal_org_id }, actor: actorOf(visitor, owner) };
    const record: Recorder = (resource_type, resource) =>
      appendRecord(deps, tx, scope, { resource_type, resource });
    return { owner, ...(await beginSession(deps, tx, { owner, browser: visitor.browser, record })) };
  });
  if (begun === undefined) return undefined;
  const { owner, id, token: session } = begun;
  return { user: await getProfile(deps, { ...owner, session_id: id }), token: session };
}

/**
 * Signs somebody in with the token of a link. It works from this machine alone; sent from elsewhere it is not used up.
 * @throws AppError unauthenticated, rate_limited: see `attemptSignIn`.
 */
export function signInWithLink(
  deps: SignInDeps,
  visitor: Visitor & { isThisMachine: boolean },
  token: string,
): Promise<SignedIn> {
  return attemptSignIn(deps, { method: "link", browser: visitor.browser }, async () =>
    visitor.isThisMachine ? redeemLink(deps, visitor, token) : undefined,
  );
}

/** Ends one of the caller's own sessions. @throws AppError not_found. */
export async function signOut(
  deps: Pick<Deps, "db" | "clock" | "ids">,
  scope: { principal: Principal; actor: Actor },
  sessionId: string | null | undefined,
): Promise<void> {
  const { principal, actor } = scope;
  await recorded(deps, { org: await homeOf(deps, principal), actor }, async (tx, record) => {
    record("session", wireId(await endSession(deps, tx, principal, sessionId)));
  });
}

/** Makes a link's token for a user, which works once. @throws AppError not_found for an unknown user, or without an administrator. */
export async function createSignInToken(
  deps: Pick<Deps, "db" | "clock">,
  actor: Actor,
  userName?: string,
): Promise<{ user: string; token: string }> {
  const name = userName ?? (await findFirstAdministrator(deps.db));
  if (name === undefined) throw notFound("Nobody runs this installation yet");
  const user = await getUserByName(deps, name);
  if (user.disabled_at !== null) throw notFound(`User '${name}' is disabled`);
  const token = createToken();
  await recorded(deps, { org: { id: user.personal_org_id }, actor }, async (tx, record) => {
    await insertSignInLink(tx, { token_hash: sha256(token), user_id: user.id, created_at: deps.clock.now() });
    record("sign_in_link", user.name);
  });
  return { user: name, token };
}
