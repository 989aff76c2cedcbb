import type { Executor, Tx } from "../../../db/connect.ts";
import { bytes, nullable, oneOf, type RowOf, text, texts, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, type Sql, sql } from "../../../db/sql.ts";
import { type Role, roles } from "../../../domain/roles.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { deadlineOf, endOfKey } from "./key-rules-sql.ts";

/** The owner of a key: a user, or one service account. */
export type KeyOwner = { user_id: string } | { org_id: string; service_account_id: string };

export interface NewApiKey {
  id: string;
  key_hash: Buffer;
  owner: KeyOwner;
  description: string;
  created_at: Timestamp;
  created_by_name: string;
  expires_at: Timestamp | null;
  /** The most it may in any organization; left out for as much as its owner. */
  role?: Role | null;
  /** Networks it works from; left out for everywhere. */
  allowed_addresses?: readonly string[] | null;
}

/**
 * Inserts a key by its hash. @returns false when there is or was one of this value already; then nothing happened.
 */
export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<boolean> {
  const former = await tx.first(query({ key_id: uuid })`
    select key_id from api_key_former_secrets where key_hash = ${key.key_hash}`);
  if (former !== undefined) return false;
  const owner = { user_id: null, org_id: null, service_account_id: null, ...key.owner };
  const inserted = await tx.run(sql`
    insert into api_keys (id, key_hash, user_id, org_id, service_account_id, description, created_at, created_by_name,
      expires_at, role, allowed_addresses)
    values (${key.id}, ${key.key_hash}, ${owner.user_id}, ${owner.org_id}, ${owner.service_account_id},
      ${key.description}, ${moment(key.created_at)}, ${key.created_by_name}, ${moment(key.expires_at)},
      ${key.role ?? null}, ${key.allowed_addresses ?? null}::cidr[])
    on conflict (key_hash) do nothing`);
  return inserted > 0;
}

const shown = {
  id: uuid,
  description: text,
  created_at: timestamp,
  expires_at: nullable(timestamp),
  last_used_at: nullable(timestamp),
  rotated_at: nullable(timestamp),
  grace_period_expires_at: nullable(timestamp),
  role: nullable(oneOf(roles)),
  allowed_addresses: nullable(texts),
  /** When rules end it. */
  deadline_at: nullable(timestamp),
};

/** Everything about a key but its secret. Null where something never happened or never happens. */
export type ApiKeyRow = RowOf<typeof shown>;

const shownColumns = sql`k.id, k.description, k.created_at, k.expires_at, k.last_used_at, k.rotated_at, k.grace_period_expires_at, k.role,
  k.allowed_addresses::text[], ${deadlineOf("k")} as deadline_at`;

/** SQL for: neither revoked nor past the end it was given. One that rules ended is still there: rotating it, or other rules, let it work again. */
function worksAt(at: Timestamp): Sql {
  return sql`k.revoked_at is null and (k.expires_at is null or k.expires_at > ${moment(at)})`;
}

/** SQL for: this owner's, and works at this moment. */
function activeOf(owner: KeyOwner, at: Timestamp): Sql {
  const owned =
    "user_id" in owner
      ? sql`k.user_id = ${owner.user_id}`
      : sql`k.org_id = ${owner.org_id} and k.service_account_id = ${owner.service_account_id}`;
  return sql`${owned} and ${worksAt(at)}`;
}

/** Lists the owner's working keys, oldest first. */
export function listActiveKeys(db: Executor, owner: KeyOwner, at: Timestamp): Promise<ApiKeyRow[]> {
  return db.all(query(shown)`
    select ${shownColumns} from api_keys k where ${activeOf(owner, at)} order by k.id`);
}

/** Finds one of the owner's working keys. */
export function findActiveKey(
  db: Executor,
  owner: KeyOwner,
  keyId: string,
  at: Timestamp,
): Promise<ApiKeyRow | undefined> {
  return db.first(query(shown)`
    select ${shownColumns} from api_keys k where k.id = ${keyId} and ${activeOf(owner, at)}`);
}

const locked = {
  id: uuid,
  key_hash: bytes,
  expires_at: nullable(timestamp),
  ends_at: nullable(timestamp),
  allowed_addresses: nullable(texts),
};

/** The secret of a key, its end by itself and by rules, and its networks, which nobody else changes until the transaction ends. */
export type LockedKey = RowOf<typeof locked>;

/** Locks one of the owner's working keys. @returns undefined when the owner has no such key. */
export function lockActiveKey(
  tx: Tx,
  owner: KeyOwner,
  keyId: string,
  at: Timestamp,
): Promise<LockedKey | undefined> {
  return tx.first(query(locked)`
    select k.id, k.key_hash, k.expires_at, ${endOfKey("k")} as ends_at, k.allowed_addresses::text[] from api_keys k
    where k.id = ${keyId} and ${activeOf(owner, at)} for update`);
}

const bounds = { networks: nullable(texts), beyond: texts };

/** Finds the networks that a key works from, null for everywhere, and which of others are in none of them. */
export function getKeyNetworks(
  db: Executor,
  keyId: string,
  others: readonly string[],
): Promise<RowOf<typeof bounds>> {
  return db.one(query(bounds)`
    select k.allowed_addresses::text[] as networks,
      array(select other.network::text from unnest(${others}::cidr[]) as other (network)
        where not other.network <<= any(k.allowed_addresses)) as beyond
    from api_keys k where k.id = ${keyId}`);
}

/** Lets the secret that a key has, and those it had, work until `end` at most, and forgets those that ended. */
export async function insertFormerSecret(
  tx: Tx,
  key: LockedKey,
  { at, end }: { at: Timestamp; end: Timestamp },
): Promise<void> {
  await tx.run(sql`delete from api_key_former_secrets where key_id = ${key.id} and ends_at <= ${moment(at)}`);
  await tx.run(sql`
    update api_key_former_secrets set ends_at = ${moment(end)}
    where key_id = ${key.id} and ends_at > ${moment(end)}`);
  await tx.run(sql`
    insert into api_key_former_secrets (key_hash, key_id, ends_at)
    values (${key.key_hash}, ${key.id}, ${moment(end)})`);
}

/** Gives a locked key another secret and another end. @returns the key as it is now. */
export function updateRotatedKey(
  tx: Tx,
  keyId: string,
  rotated: { key_hash: Buffer; expires_at: Timestamp | null; at: Timestamp; end: Timestamp },
): Promise<ApiKeyRow> {
  return tx.one(query(shown)`
    update api_keys k
    set key_hash = ${rotated.key_hash}, expires_at = ${moment(rotated.expires_at)},
      rotated_at = ${moment(rotated.at)}, grace_period_expires_at = ${moment(rotated.end)}
    where k.id = ${keyId}
    returning ${shownColumns}`);
}

/** Revokes one of the owner's working keys. @returns whether there was one. */
export async function updateRevokedKey(
  tx: Tx,
  owner: KeyOwner,
  keyId: string,
  at: Timestamp,
): Promise<boolean> {
  const revoked = await tx.run(sql`
    update api_keys k set revoked_at = ${moment(at)} where k.id = ${keyId} and ${activeOf(owner, at)}`);
  return revoked > 0;
}

/** Revokes every working key of the owner. */
export async function updateRevokedKeys(tx: Tx, owner: KeyOwner, at: Timestamp): Promise<void> {
  await tx.run(sql`update api_keys k set revoked_at = ${moment(at)} where ${activeOf(owner, at)}`);
}

/** Writes down when keys were last used, by their ids. A later time that is there already stays. */
export async function updateLastUses(db: Executor, uses: ReadonlyMap<string, Timestamp>): Promise<void> {
  await db.run(sql`
    update api_keys k set last_used_at = greatest(k.last_used_at, to_timestamp(used.at))
    from unnest(${[...uses.keys()]}::uuid[], ${[...uses.values()]}::float8[]) as used (id, at)
    where k.id = used.id`);
}

const owned = {
  ...shown,
  /** A user's name, or `organization/account`. */
  owner: text,
};

/** A working key of anybody. */
export type OwnedKeyRow = RowOf<typeof owned>;

/** Lists every working key of the installation, by owner. */
export function listAllKeys(db: Executor, at: Timestamp): Promise<OwnedKeyRow[]> {
  return db.all(query(owned)`
    select ${shownColumns}, coalesce(u.name, o.name || '/' || s.name) as owner
    from api_keys k
    left join users u on u.id = k.user_id
    left join organizations o on o.id = k.org_id
    left join service_accounts s on s.org_id = k.org_id and s.id = k.service_account_id
    where ${worksAt(at)}
    order by owner, k.id`);
}
