import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import { instant, moment, momentOrNull } from "../../db/columns.ts";
import type { DB } from "../../db/schema.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A key acts as a user, or as one service account. */
export type KeyOwner = { user_id: string } | { org_id: string; service_account_id: string };

export interface NewApiKey {
  id: string;
  key_hash: Buffer;
  owner: KeyOwner;
  description: string;
  created_at: Timestamp;
  created_by_name: string;
  expires_at: Timestamp | null;
}

/**
 * Inserts a key by its hash. @returns false when there is or was one of this value already; then nothing happened.
 */
export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<boolean> {
  const { owner, created_at, expires_at, ...rest } = key;
  const former = await tx
    .selectFrom("api_key_former_secrets")
    .select("key_id")
    .where("key_hash", "=", key.key_hash)
    .executeTakeFirst();
  if (former !== undefined) return false;
  const inserted = await tx
    .insertInto("api_keys")
    .values({ ...rest, ...owner, created_at: moment(created_at), expires_at: momentOrNull(expires_at) })
    .onConflict((conflict) => conflict.column("key_hash").doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows !== 0n;
}

/** What there is to see of a key. Null where something never happened. */
export interface ApiKeyRow {
  id: string;
  description: string;
  created_at: Timestamp;
  expires_at: Timestamp | null;
  last_used_at: Timestamp | null;
  rotated_at: Timestamp | null;
  grace_period_expires_at: Timestamp | null;
}

const shown = [
  "id",
  "description",
  "created_at",
  "expires_at",
  "last_used_at",
  "rotated_at",
  "grace_period_expires_at",
] as const;

type Keys = ExpressionBuilder<DB, "api_keys">;

/** Neither revoked nor past its end. */
function workingAt(keys: Keys, at: Timestamp): Expression<SqlBool>[] {
  const now = instant(at);
  return [
    keys("api_keys.revoked_at", "is", null),
    keys.or([keys("api_keys.expires_at", "is", null), keys("api_keys.expires_at", ">", now)]),
  ];
}

/** The owner's keys that work at this moment. */
function activeOf(owner: KeyOwner, at: Timestamp) {
  return (keys: Keys): Expression<SqlBool> => {
    const owned =
      "user_id" in owner
        ? [keys("user_id", "=", owner.user_id)]
        : [keys("org_id", "=", owner.org_id), keys("service_account_id", "=", owner.service_account_id)];
    return keys.and([...owned, ...workingAt(keys, at)]);
  };
}

/** The owner's working keys, oldest first. */
export function listActiveKeys(db: Executor, owner: KeyOwner, at: Timestamp): Promise<ApiKeyRow[]> {
  return db.selectFrom("api_keys").select(shown).where(activeOf(owner, at)).orderBy("id").execute();
}

/** One of the owner's working keys. */
export function findActiveKey(
  db: Executor,
  owner: KeyOwner,
  keyId: string,
  at: Timestamp,
): Promise<ApiKeyRow | undefined> {
  return db
    .selectFrom("api_keys")
    .select(shown)
    .where("id", "=", keyId)
    .where(activeOf(owner, at))
    .executeTakeFirst();
}

/** The secret and the end of a key, which nobody else changes until the transaction ends. */
export interface LockedKey {
  id: string;
  key_hash: Buffer;
  expires_at: Timestamp | null;
}

/** One of the owner's working keys, held; undefined when the owner has no such key. */
export function lockActiveKey(
  tx: Tx,
  owner: KeyOwner,
  keyId: string,
  at: Timestamp,
): Promise<LockedKey | undefined> {
  return tx
    .selectFrom("api_keys")
    .select(["id", "key_hash", "expires_at"])
    .where("id", "=", keyId)
    .where(activeOf(owner, at))
    .forUpdate()
    .executeTakeFirst();
}

/** Lets the secret that a key has, and those it had, work until `end` at most, and forgets those that ended. */
export async function insertFormerSecret(
  tx: Tx,
  key: LockedKey,
  times: { at: Timestamp; end: Timestamp },
): Promise<void> {
  const ends_at = moment(times.end);
  await tx
    .deleteFrom("api_key_former_secrets")
    .where("key_id", "=", key.id)
    .where("ends_at", "<=", instant(times.at))
    .execute();
  await tx
    .updateTable("api_key_former_secrets")
    .set({ ends_at })
    .where("key_id", "=", key.id)
    .where("ends_at", ">", instant(times.end))
    .execute();
  await tx
    .insertInto("api_key_former_secrets")
    .values({ key_hash: key.key_hash, key_id: key.id, ends_at })
    .execute();
}

/** Gives a key that is held another secret and another end. @returns the key as it is now. */
export function updateRotatedKey(
  tx: Tx,
  keyId: string,
  rotated: { key_hash: Buffer; expires_at: Timestamp | null; at: Timestamp; end: Timestamp },
): Promise<ApiKeyRow> {
  return tx
    .updateTable("api_keys")
    .set({
      key_hash: rotated.key_hash,
      expires_at: momentOrNull(rotated.expires_at),
      rotated_at: moment(rotated.at),
      grace_period_expires_at: moment(rotated.end),
    })
    .where("id", "=", keyId)
    .returning(shown)
    .executeTakeFirstOrThrow();
}

/** Revokes one of the owner's working keys. @returns whether there was one. */
export async function updateRevokedKey(
  tx: Tx,
  owner: KeyOwner,
  keyId: string,
  at: Timestamp,
): Promise<boolean> {
  const result = await tx
    .updateTable("api_keys")
    .set({ revoked_at: moment(at) })
    .where("id", "=", keyId)
    .where(activeOf(owner, at))
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Revokes every key of the owner that works. */
export async function updateRevokedKeys(tx: Tx, owner: KeyOwner, at: Timestamp): Promise<void> {
  await tx
    .updateTable("api_keys")
    .set({ revoked_at: moment(at) })
    .where(activeOf(owner, at))
    .execute();
}

/** A working key of anybody; the owner is a user's name, or `organization/account`. */
export interface OwnedKeyRow extends ApiKeyRow {
  owner: string;
}

/** Every working key of the installation, by owner. */
export function listAllKeys(db: Executor, at: Timestamp): Promise<OwnedKeyRow[]> {
  const owner = sql<string>`coalesce(u.name, o.name || '/' || s.name)`;
  return db
    .selectFrom("api_keys")
    .leftJoin("users as u", "u.id", "api_keys.user_id")
    .leftJoin("organizations as o", "o.id", "api_keys.org_id")
    .leftJoin("service_accounts as s", (join) =>
      join.onRef("s.org_id", "=", "api_keys.org_id").onRef("s.id", "=", "api_keys.service_account_id"),
    )
    .select(shown.map((column) => `api_keys.${column}` as const))
    .select(owner.as("owner"))
    .where((keys) => keys.and(workingAt(keys, at)))
    .orderBy(owner)
    .orderBy("api_keys.id")
    .execute();
}
