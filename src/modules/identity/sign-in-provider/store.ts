import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** Who somebody is at a provider. */
export interface Identity {
  issuer: string;
  subject: string;
}

const known = {
  id: uuid,
  name: text,
  display_name: text,
  instance_admin: boolean,
  made_admin: boolean,
  personal_org_id: uuid,
  disabled_at: nullable(timestamp),
};

/** The user that somebody of a provider is here. */
export type KnownUser = RowOf<typeof known>;

/** Finds who somebody of a provider is here, and keeps others from signing them in until the transaction ends. */
export function findIdentityForUpdate(tx: Tx, { issuer, subject }: Identity): Promise<KnownUser | undefined> {
  return tx.first(query(known)`
    select u.id, u.name, coalesce(nullif(u.display_name, ''), u.name) as display_name, u.instance_admin, i.made_admin,
      o.id as personal_org_id, u.disabled_at
    from user_identities i join users u on u.id = i.user_id
    join organizations o on o.owner_user_id = u.id and o.kind = 'personal'
    where i.issuer = ${issuer} and i.subject = ${subject} and u.deleted_at is null
    for no key update of i`);
}

/** Notes who somebody of a provider is here. @returns false when they are somebody already; then nothing happened. */
export async function insertIdentity(
  tx: Tx,
  identity: Identity & { user_id: string; created_at: Timestamp },
): Promise<boolean> {
  const { issuer, subject, user_id, created_at } = identity;
  const inserted = await tx.run(sql`
    insert into user_identities (issuer, subject, user_id, created_at)
    values (${issuer}, ${subject}, ${user_id}, ${moment(created_at)})
    on conflict do nothing`);
  return inserted > 0;
}

/** Notes that somebody of a provider signed in, and whether they run the installation because of their groups. */
export async function updateIdentity(
  tx: Tx,
  { issuer, subject }: Identity,
  seen: { at: Timestamp; made_admin: boolean },
): Promise<void> {
  await tx.run(sql`
    update user_identities set last_signed_in_at = ${moment(seen.at)}, made_admin = ${seen.made_admin}
    where issuer = ${issuer} and subject = ${subject}`);
}

/** Notes that a logout token was used, and forgets those that would not be taken any more. @returns false when it was used before. */
export async function insertUsedLogoutToken(
  tx: Tx,
  token: { name_hash: Buffer; ends_at: Timestamp },
  now: Timestamp,
): Promise<boolean> {
  await tx.run(sql`delete from used_logout_tokens where ends_at < ${moment(now)}`);
  const inserted = await tx.run(sql`
    insert into used_logout_tokens (name_hash, ends_at) values (${token.name_hash}, ${moment(token.ends_at)})
    on conflict do nothing`);
  return inserted > 0;
}

const ownIdentity = {
  issuer: text,
  subject: text,
  created_at: timestamp,
  last_signed_in_at: nullable(timestamp),
};

/** Who a user is at a provider, and since when that is known here. */
export type OwnIdentity = RowOf<typeof ownIdentity>;

/** Lists who a user is at providers, the oldest first. */
export function listIdentities(db: Executor, userId: string): Promise<OwnIdentity[]> {
  return db.all(query(ownIdentity)`
    select issuer, subject, created_at, last_signed_in_at from user_identities where user_id = ${userId}
    order by created_at, issuer, subject limit 100`);
}
