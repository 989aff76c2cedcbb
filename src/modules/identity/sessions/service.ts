import type { CurrentUser } from "../../../contract/current-user.ts";
import type { Endpoint } from "../../../contract/endpoint.ts";
import type { Tx } from "../../../db/connect.ts";
import { enqueue } from "../../../db/jobs.ts";
import { transaction } from "../../../db/transaction.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Actor, Principal } from "../../../domain/principal.ts";
import { announceLinkTask, siteOf } from "../../../domain/sessions.ts";
import { sha256 } from "../../../lib/hash.ts";
import { wireId } from "../../../lib/ids.ts";
import { createToken } from "../../../lib/token.ts";
import { identify } from "../../kernel/access/service.ts";
import { requireKeysForPeople } from "../../kernel/access/rules-service.ts";
import { recordWrongAddress } from "../../kernel/access/refusal-service.ts";
import {
  type Browser,
  endSession,
  endSessionsOf,
  openSession,
  ownerOf,
  type ProviderProof,
} from "../../kernel/access/session-service.ts";
import { appendInstanceEntry, appendRecord, type Recorder, recorded } from "../../kernel/audit/service.ts";
import { recordEnds } from "../../kernel/access/session-ends-service.ts";
import type { Call } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { SignInMethod } from "../../kernel/metrics.ts";
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

/** Begins a session for somebody who has shown who they are, and records it. @param begun with a key, also the secret that was sent. */
export async function beginSession(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  begun: { owner: Arrival; secret?: string; browser: Browser; proof?: ProviderProof; record: Recorder },
): Promise<{ id: string; token: string }> {
  const { owner, secret, browser, proof, record } = begun;
  const session = await openSession(deps, tx, {
    owner: ownerOf(owner),
    api_key_id: owner.api_key_id,
    secret_hash: secret === undefined ? undefined : sha256(secret),
    browser,
    proof,
  });
  record("session", wireId(session.id));
  return session;
}

export type SignInDeps = Pick<
  Deps,
  "db" | "clock" | "ids" | "log" | "metrics" | "request" | "signInFailures" | "toldFailures" | "refusals"
>;

/** Records in the log of the instance that somebody signed in. Append it last. */
export function recordSignIn(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  actor: Actor,
  { method, id }: { method: SignInMethod; id: string },
): void {
  const details = { method };
  appendInstanceEntry(deps, tx, {
    actor,
    action: "sign_in",
    resource_type: "session",
    resource: wireId(id),
    details,
  });
}

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
  return attemptSignIn(deps, { method: "api_key", ...visitor }, async () => {
    const principal = await identify(deps, key, {
      address: browser.address,
      onWrongAddress: (refused) =>
        recordWrongAddress(deps, refused, {
          address: browser.address,
          actor: { ...visitor.actor, request_digest: null },
        }),
    });
    if (principal === undefined) {
      await recordRefusal(deps, visitor, sha256(key));
      return undefined;
    }
    if (principal.kind === "user") await requireKeysForPeople(deps);
    const scope = { org: await homeOf(deps, principal), actor: actorOf(visitor, principal) };
    const { id, token } = await transaction(deps.db, async (tx) => {
      const record: Recorder = (resource_type, resource) =>
        appendRecord(deps, tx, scope, { resource_type, resource });
      const begun = await beginSession(deps, tx, { owner: principal, secret: key, browser, record });
      recordSignIn(deps, tx, scope.actor, { method: "api_key", id: begun.id });
      return begun;
    });
    return { user: await getProfile(deps, { ...principal, session_id: id }), token };
  });
}

/** Makes a principal of a user who shows who they are otherwise than by a key. */
export function arrivingUser(
  user: Pick<Principal, "id" | "name" | "display_name" | "instance_admin">,
): Arrival {
  const { id, name, display_name, instance_admin } = user;
  const limits = { role: null, is_bound: false };
  return {
    kind: "user",
    id,
    name,
    display_name,
    instance_admin,
    api_key_id: null,
    org_id: null,
    limits,
    address: null,
  };
}

/** Where a link is used. */
interface LinkPlace {
  /** Whether it comes from this machine, and no proxy passes it on. */
  isThisMachine: boolean;
  /** The page that sent it, as browsers say it; undefined where they do not. */
  origin: string | undefined;
}

/** Uses up the token of a link, and begins a session for its user. @returns undefined when the token does not work. */
async function redeemLink(
  deps: SignInDeps,
  visitor: Visitor,
  used: { token: string; public_url: string | null; isThisMachine: boolean },
): Promise<SignedIn | undefined> {
  const { token, ...place } = used;
  const begun = await transaction(deps.db, async (tx) => {
    const user = await deleteSignInLink(tx, { token_hash: sha256(token), ...place }, deps.clock.now());
    if (user === undefined) return undefined;
    const owner = arrivingUser(user);
    const scope = { org: { id: user.personal_org_id }, actor: actorOf(visitor, owner) };
    const record: Recorder = (resource_type, resource) =>
      appendRecord(deps, tx, scope, { resource_type, resource });
    const session = await beginSession(deps, tx, { owner, browser: visitor.browser, record });
    recordSignIn(deps, tx, scope.actor, { method: "link", id: session.id });
    return { owner, isPublic: user.is_public, ...session };
  });
  if (begun === undefined) return undefined;
  const { owner, id, token: session, isPublic } = begun;
  if (isPublic) deps.metrics.breakGlass.inc();
  return { user: await getProfile(deps, { ...owner, session_id: id }), token: session };
}

/**
 * Signs somebody in with the token of a link. One for the machine works from there alone, one for the public URL on its pages alone;
 * sent from elsewhere it is not used up.
 * @throws AppError unauthenticated, rate_limited: see `attemptSignIn`.
 */
export function signInWithLink(
  deps: SignInDeps & Pick<Deps, "config">,
  visitor: Visitor & LinkPlace,
  token: string,
): Promise<SignedIn> {
  const { browser, actor, isThisMachine, origin } = visitor;
  const { publicUrl } = deps.config;
  const isAtPublicUrl = origin === undefined || origin === siteOf(publicUrl).origin;
  const public_url = isAtPublicUrl ? publicUrl : null;
  return attemptSignIn(deps, { method: "link", browser, actor }, () =>
    redeemLink(deps, visitor, { token, public_url, isThisMachine }),
  );
}

/** Ends one of the caller's own sessions. @throws AppError not_found. */
export async function signOut(
  deps: Pick<Deps, "db" | "clock" | "ids">,
  scope: { principal: Principal; actor: Actor },
  sessionId: string | null | undefined,
): Promise<void> {
  const { principal, actor } = scope;
  const org = await homeOf(deps, principal);
  await transaction(deps.db, async (tx) => {
    const id = await endSession(deps, tx, principal, sessionId);
    const action = id === principal.session_id ? "sign_out" : "session_revoked";
    recordEnds(deps, tx, { org, actor }, { ids: [id], action });
  });
}

/** Ends the caller's own sessions but the one of this request. */
export async function signOutElsewhere(
  deps: Pick<Deps, "db" | "clock">,
  scope: { principal: Principal; actor: Actor },
): Promise<void> {
  const { principal, actor } = scope;
  const org = await homeOf(deps, principal);
  await transaction(deps.db, async (tx) => {
    const ids = await endSessionsOf(deps, tx, ownerOf(principal), principal.session_id);
    recordEnds(deps, tx, { org, actor }, { ids, action: "session_revoked" });
  });
}

/** Whom a link signs in, and where. */
interface LinkWanted {
  /** The first administrator unless given. */
  user?: string | undefined;
  /** The public URL, for a link that works there; left out for one that works on this machine alone. */
  public_url?: string | undefined;
}

/**
 * Makes a link's token for a user, which works once. One for the public URL is for emergencies: all administrators are told by mail.
 * @throws AppError not_found for an unknown user, or without an administrator.
 */
export async function createSignInToken(
  deps: Pick<Deps, "db" | "clock">,
  actor: Actor,
  { user: wanted, public_url }: LinkWanted = {},
): Promise<{ user: string; token: string }> {
  const name = wanted ?? (await findFirstAdministrator(deps.db));
  if (name === undefined) throw notFound("Nobody runs this installation yet");
  const user = await getUserByName(deps, name);
  if (user.disabled_at !== null) throw notFound(`User '${name}' is disabled`);
  const token = createToken();
  const created_at = deps.clock.now();
  await transaction(deps.db, async (tx) => {
    const link = { token_hash: sha256(token), user_id: user.id, created_at };
    await insertSignInLink(tx, { ...link, public_url: public_url ?? null });
    const resource = { resource_type: "sign_in_link", resource: user.name };
    if (public_url !== undefined)
      await enqueue(tx, announceLinkTask, { user: user.name, made_at: created_at, id: actor.request_id });
    appendRecord(deps, tx, { org: { id: user.personal_org_id }, actor }, resource);
    if (public_url !== undefined)
      appendInstanceEntry(deps, tx, { actor, action: "break_glass", ...resource });
  });
  return { user: name, token };
}
