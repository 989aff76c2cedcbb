import type { Executor, Tx } from "../../../db/connect.ts";
import { nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { mostSessions } from "../../../domain/sessions.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { KeyOwner } from "./key-store.ts";
import { endOf, idleEndOf, sessionWorksAt } from "./session-sql.ts";

export interface NewSession {
  id: string;
  token_hash: Buffer;
  owner: KeyOwner;
  /** The key it was begun with, whose end it shares; null for a user who came another way. */
  api_key_id: string | null;
  user_agent: string;
  address: string;
  created_at: Timestamp;
}

/** Begins a session. */
export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  const owner = { user_id: null, org_id: null, service_account_id: null, ...session.owner };
  await tx.run(sql`
    insert into sessions (id, token_hash, user_id, org_id, service_account_id, api_key_id, user_agent, address, created_at,
      last_used_at)
    values (${session.id}, ${session.token_hash}, ${owner.user_id}, ${owner.org_id}, ${owner.service_account_id},
      ${session.api_key_id}, ${session.user_agent}, ${session.address}, ${moment(session.created_at)},
      ${moment(session.created_at)})`);
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
};

/** Everything about a session but its secret. */
export type SessionRow = RowOf<typeof shown>;

const shownColumns = sql`s.id, s.api_key_id, s.user_agent, s.address, s.created_at, s.last_used_at,
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
