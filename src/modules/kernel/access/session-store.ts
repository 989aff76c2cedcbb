import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, bytes, nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { join, moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { mostSessions } from "../../../domain/sessions.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { KeyOwner } from "./key-store.ts";
import { endOf, idleEndOf, sessionWorksAt } from "./session-sql.ts";

/** What a session that is begun at a sign-in provider has of it. */
export interface ProviderProof {
  issuer: string;
  subject: string;
  /** The provider's own name of its session; null where it says none. */
  provider_session: string | null;
  /** The ID token, sealed; null for one that is too long to be shown again. */
  id_token: Buffer | null;
  /** When the person proved there who they are; null where the provider does not say. */
  proved_at: Timestamp | null;
}

export interface NewSession {
  id: string;
  token_hash: Buffer;
  owner: KeyOwner;
  /** The key it was begun with, whose end it shares; null for a user who came another way. */
  api_key_id: string | null;
  /** When the secret of that key ends that it was begun with (see `lockSecret`); null for one that ends with the key, or without one. */
  ends_at: Timestamp | null;
  user_agent: string;
  address: string;
  created_at: Timestamp;
  /** Null for one that is not begun at a provider. */
  proof: ProviderProof | null;
}

const noProof: { [Name in keyof ProviderProof]: null } = {
  issuer: null,
  subject: null,
  provider_session: null,
  id_token: null,
  proved_at: null,
};

const secretEnd = { ends_at: nullable(timestamp) };

/**
 * Has a key keep the secrets it has until the transaction ends, and tells when the one that was presented ends: null for the one it has now, `at`
 * for one that neither is nor was the key's, as one that ended and was forgotten meanwhile. Uses of the key are written meanwhile. Two statements,
 * so that the second sees the rotation that the first waited for; none of them inserts, because Citus takes no subqueries there.
 */
export async function lockSecret(
  tx: Tx,
  keyId: string,
  hash: Buffer | null,
  at: Timestamp,
): Promise<Timestamp | null> {
  await tx.run(sql`select from api_keys where id = ${keyId} for key share`);
  const { ends_at } = await tx.one(query(secretEnd)`
    select case when k.key_hash = ${hash} then null else coalesce(
      (select former.ends_at from api_key_former_secrets former
        where former.key_hash = ${hash} and former.key_id = k.id), ${moment(at)}) end as ends_at
    from api_keys k where k.id = ${keyId}`);
  return ends_at;
}

/** Has a user stay enabled until the transaction ends. @returns false for one who is not: whoever disables them is waited for. */
export async function lockActiveUser(tx: Tx, userId: string): Promise<boolean> {
  const user = await tx.first(query({ id: uuid })`
    select id from users where id = ${userId} and disabled_at is null and deleted_at is null for share`);
  return user !== undefined;
}

/** Begins a session. */
export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  const owner = { user_id: null, org_id: null, service_account_id: null, ...session.owner };
  const { issuer, subject, provider_session, id_token, proved_at } = session.proof ?? noProof;
  await tx.run(sql`
    insert into sessions (id, token_hash, user_id, org_id, service_account_id, api_key_id, user_agent, address, created_at,
      last_used_at, ends_at, issuer, subject, provider_session, id_token, proved_at)
    values (${session.id}, ${session.token_hash}, ${owner.user_id}, ${owner.org_id}, ${owner.service_account_id},
      ${session.api_key_id}, ${session.user_agent}, ${session.address}, ${moment(session.created_at)},
      ${moment(session.created_at)}, ${moment(session.ends_at)}, ${issuer}, ${subject}, ${provider_session},
      ${id_token}, ${moment(proved_at)})`);
}

/** SQL for: this owner's. */
function ownedBy(owner: KeyOwner): Sql {
  return "user_id" in owner
    ? sql`s.user_id = ${owner.user_id}`
    : sql`s.org_id = ${owner.org_id} and s.service_account_id = ${owner.service_account_id}`;
}

/** Removes the owner's sessions that have ended, and of the others those used longest ago, so that one more has room. */
export async function deleteOldSessions(tx: Tx, owner: KeyOwner, at: Timestamp): Promise<void> {
  await tx.run(sql`
    delete from sessions s where ${ownedBy(owner)} and s.id not in (
      select s.id from sessions s where ${ownedBy(owner)} and ${sessionWorksAt("s", at)}
      order by s.last_used_at desc, s.id desc limit ${raw(String(mostSessions - 1))})`);
}

const shown = {
  id: uuid,
  api_key_id: nullable(uuid),
  user_agent: text,
  address: text,
  created_at: timestamp,
  last_used_at: timestamp,
  expires_at: timestamp,
  idle_expires_at: timestamp,
  issuer: nullable(text),
  proved_at: nullable(timestamp),
};

/** Everything about a session but its secret. */
export type SessionRow = RowOf<typeof shown>;

const shownColumns = sql`s.id, s.api_key_id, s.user_agent, s.address, s.created_at, s.last_used_at, s.issuer, s.proved_at,
  ${endOf("s")} as expires_at, ${idleEndOf("s")} as idle_expires_at`;

/** Finds a session that was found to work just now. */
export function findSession(db: Executor, id: string): Promise<SessionRow | undefined> {
  return db.first(query(shown)`select ${shownColumns} from sessions s where s.id = ${id}`);
}

/** Lists the owner's working sessions, the latest first. There are at most `mostSessions`. */
export function listSessions(db: Executor, owner: KeyOwner, at: Timestamp): Promise<SessionRow[]> {
  return db.all(query(shown)`
    select ${shownColumns} from sessions s where ${ownedBy(owner)} and ${sessionWorksAt("s", at)}
    order by s.id desc limit ${raw(String(mostSessions))}`);
}

/** Ends one of the owner's sessions. @returns whether there was one. */
export async function deleteSession(tx: Tx, owner: KeyOwner, id: string, at: Timestamp): Promise<boolean> {
  const ended = await tx.run(sql`
    delete from sessions s where s.id = ${id} and ${ownedBy(owner)} and ${sessionWorksAt("s", at)}`);
  return ended > 0;
}

/**
 * Ends the owner's sessions, all or all but one. @returns the ids of those that worked. They are read first: Citus returns of rows that are
 * deleted nothing that depends on the time zone.
 */
export async function deleteSessions(
  tx: Tx,
  owner: KeyOwner,
  { except, at }: { except: string | null; at: Timestamp },
): Promise<string[]> {
  const ended = await tx.all(query({ id: uuid, worked: boolean })`
    select s.id, ${sessionWorksAt("s", at)} as worked from sessions s
    where ${ownedBy(owner)} and s.id is distinct from ${except}::uuid for update of s`);
  if (ended.length === 0) return [];
  await tx.run(sql`delete from sessions where id = any(${ended.map(({ id }) => id)}::uuid[])`);
  return ended.filter(({ worked }) => worked).map(({ id }) => id);
}

const atProvider = { issuer: nullable(text), id_token: nullable(bytes) };

/** Reads at which provider a session was begun, and the sealed ID token; nulls for one begun otherwise. */
export function findSessionProof(db: Executor, id: string): Promise<RowOf<typeof atProvider> | undefined> {
  return db.first(query(atProvider)`select issuer, id_token from sessions where id = ${id}`);
}

const endedAtProvider = { id: uuid, user_name: text, personal_org_id: uuid };

/** A session that its provider ended, and the organization that is its user's alone. */
export type SessionEndedAtProvider = RowOf<typeof endedAtProvider>;

/**
 * Ends the sessions begun at a provider by its own name of the session, by the subject, or by both. With both, those whose name
 * it did not say end, too.
 */
export function deleteSessionsAtProvider(
  tx: Tx,
  ended: { issuer: string; subject: string | undefined; session: string | undefined },
): Promise<SessionEndedAtProvider[]> {
  const { issuer, subject, session } = ended;
  const ofSubject = subject === undefined ? [] : [sql`s.subject = ${subject}`];
  const named = sql`s.provider_session = ${session ?? null}`;
  const ofSession =
    session === undefined
      ? []
      : [subject === undefined ? named : sql`(${named} or s.provider_session is null)`];
  return tx.all(query(endedAtProvider)`
    with ended as (
      delete from sessions s where ${join([sql`s.issuer = ${issuer}`, ...ofSubject, ...ofSession], " and ")}
      returning s.id, s.user_id)
    select ended.id, u.name as user_name, o.id as personal_org_id
    from ended join users u on u.id = ended.user_id
    join organizations o on o.owner_user_id = u.id and o.kind = 'personal'
    order by o.id, ended.id`);
}

/** Ends the session that a browser had, if it is this user's: another one takes its place. */
export async function deleteSessionByToken(tx: Tx, userId: string, tokenHash: Buffer): Promise<void> {
  await tx.run(sql`delete from sessions where token_hash = ${tokenHash} and user_id = ${userId}`);
}

/** Lets the sessions begun with a key last until `end` at most: the secret they were begun with lasts no longer. */
export async function updateSessionEnds(tx: Tx, keyId: string, end: Timestamp): Promise<void> {
  await tx.run(sql`
    update sessions set ends_at = least(ends_at, ${moment(end)}) where api_key_id = ${keyId}`);
}

/** Writes down when sessions were last used, by their ids. A later time that is there already stays. */
export async function updateSessionUses(db: Executor, uses: ReadonlyMap<string, Timestamp>): Promise<void> {
  await db.run(sql`
    update sessions s set last_used_at = greatest(s.last_used_at, to_timestamp(used.at))
    from unnest(${[...uses.keys()]}::uuid[], ${[...uses.values()]}::float8[]) as used (id, at)
    where s.id = used.id`);
}
