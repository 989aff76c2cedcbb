import type { Executor, Tx } from "../../../db/connect.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Principal } from "../../../domain/principal.ts";
import { sha256 } from "../../../lib/hash.ts";
import { wireId, wireIdOrNull } from "../../../lib/ids.ts";
import { createToken } from "../../../lib/token.ts";
import type { Deps } from "../deps.ts";
import type { KeyOwner } from "./key-store.ts";
import { isProviderRequired } from "./rules-service.ts";
import { unauthenticated } from "./service.ts";
import {
  deleteOldSessions,
  deleteSession,
  deleteSessions,
  findSession,
  insertSession,
  listSessions,
  lockActiveUser,
  lockSecret,
  type ProviderProof,
  type SessionRow,
} from "./session-store.ts";

export {
  deleteSessionByToken,
  deleteSessionsAtProvider,
  findSessionProof,
  type ProviderProof,
} from "./session-store.ts";

/** A session as the API shows it. */
export interface ShownSession extends SessionRow {
  is_current: boolean;
}

/** Where a session is begun. */
export interface Browser {
  user_agent: string;
  address: string;
}

type SessionDeps = Pick<Deps, "clock" | "ids">;

const longestAgent = 512;

function show(row: SessionRow, current: string | null): ShownSession {
  const { id, api_key_id, ...rest } = row;
  return {
    ...rest,
    id: wireId(id),
    api_key_id: wireIdOrNull(api_key_id),
    is_current: id === current,
  };
}

/** Gives the owner that a caller's keys and sessions have. */
export function ownerOf({ id, org_id }: Pick<Principal, "id" | "org_id">): KeyOwner {
  return org_id === null ? { user_id: id } : { org_id, service_account_id: id };
}

/**
 * Begins a session. What the cookie has to hold can be read from the result and nowhere else, ever. The owner's sessions that have
 * ended are removed, and those used longest ago when there are too many.
 * @param begun with a key, also the hash of the secret that was presented: with a former one the session lasts no longer than that does.
 * @throws AppError unauthenticated for a user who was disabled since they were looked up: that ended their sessions, and would have missed this one.
 */
export async function openSession(
  deps: SessionDeps,
  tx: Tx,
  begun: {
    owner: KeyOwner;
    api_key_id: string | null;
    secret_hash?: Buffer | undefined;
    browser: Browser;
    proof?: ProviderProof | undefined;
  },
): Promise<{ id: string; token: string }> {
  const { owner, api_key_id, secret_hash = null, browser, proof = null } = begun;
  const [id, token, created_at] = [deps.ids.next(), createToken(), deps.clock.now()];
  if ("user_id" in owner && !(await lockActiveUser(tx, owner.user_id))) throw unauthenticated();
  // Before any session is touched, as rotating does: a rotation under way either is seen here, or sees this session.
  const ends_at = api_key_id === null ? null : await lockSecret(tx, api_key_id, secret_hash, created_at);
  await deleteOldSessions(tx, owner, created_at);
  await insertSession(tx, {
    id,
    token_hash: sha256(token),
    owner,
    api_key_id,
    ends_at,
    user_agent: browser.user_agent.slice(0, longestAgent),
    address: browser.address,
    created_at,
    proof,
  });
  return { id, token };
}

/** Reads the session of a caller; null for one with a key. */
export async function getCurrentSession(
  db: Executor,
  sessionId: string | null,
): Promise<ShownSession | null> {
  const row = sessionId === null ? undefined : await findSession(db, sessionId);
  return row === undefined ? null : show(row, sessionId);
}

/** Lists somebody's working sessions, the latest first. @param current the session that asks, if one does. */
export async function listSessionsOf(
  deps: Pick<Deps, "db" | "clock" | "config">,
  owner: KeyOwner,
  current: string | null,
): Promise<ShownSession[]> {
  const rows = await listSessions(deps.db, owner, deps.clock.now());
  const taken = isProviderRequired(deps) ? rows.filter(({ api_key_id }) => api_key_id === null) : rows;
  return taken.map((row) => show(row, current));
}

/** Ends somebody's sessions at once, all or all but one. @returns the ids of those that worked. */
export function endSessionsOf(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  owner: KeyOwner,
  except: string | null = null,
): Promise<string[]> {
  return deleteSessions(tx, owner, { except, at: deps.clock.now() });
}

/** Ends one of the caller's own sessions at once. @returns its id. @throws AppError not_found when there is no such session. */
export async function endSession(
  deps: SessionDeps,
  tx: Tx,
  principal: Principal,
  sessionId: string | null | undefined,
): Promise<string> {
  if (sessionId == null || !(await deleteSession(tx, ownerOf(principal), sessionId, deps.clock.now())))
    throw notFound("Session not found");
  return sessionId;
}
