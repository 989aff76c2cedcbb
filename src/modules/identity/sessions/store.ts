import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, nullable, type RowOf, text, uuid } from "../../../db/row.ts";
import { moment, query, raw, sql } from "../../../db/sql.ts";
import { signInLinkSeconds } from "../../../domain/sessions.ts";
import type { Timestamp } from "../../../lib/clock.ts";

const refused = { key_id: uuid, org_id: nullable(uuid) };

/** Finds a key that does not work, or whose owner is gone, and the organization that is told of attempts to use it. */
export function findRefusedKey(db: Executor, hash: Buffer): Promise<RowOf<typeof refused> | undefined> {
  return db.first(query(refused)`
    select k.id as key_id, coalesce(k.org_id, o.id) as org_id
    from api_keys k left join organizations o on o.owner_user_id = k.user_id and o.kind = 'personal'
    where k.key_hash = ${hash}
      or k.id = (select former.key_id from api_key_former_secrets former where former.key_hash = ${hash})
    limit 1`);
}

const linkWorks = (at: Timestamp) =>
  sql`created_at > ${moment(at)} - ${raw(`interval '${signInLinkSeconds} seconds'`)}`;

/** Keeps a link for a user, and forgets those of anybody that have ended. */
export async function insertSignInLink(
  tx: Tx,
  link: { token_hash: Buffer; user_id: string; created_at: Timestamp; public_url: string | null },
): Promise<void> {
  await tx.run(sql`delete from sign_in_links where not (${linkWorks(link.created_at)})`);
  await tx.run(sql`
    insert into sign_in_links (token_hash, user_id, created_at, public_url)
    values (${link.token_hash}, ${link.user_id}, ${moment(link.created_at)}, ${link.public_url})`);
}

const linked = {
  id: uuid,
  name: text,
  display_name: text,
  instance_admin: boolean,
  personal_org_id: uuid,
  is_public: boolean,
};

/** The user of a link, and the organization that is theirs alone. */
export type LinkedUser = RowOf<typeof linked>;

/** A link's token, and where it is used: at a public URL or elsewhere, from the server's own machine or not. */
interface UsedLink {
  token_hash: Buffer;
  public_url: string | null;
  isThisMachine: boolean;
}

/** Uses a link up, where it works. @returns its user; undefined when it does not work, or the user may not sign in. */
export function deleteSignInLink(tx: Tx, used: UsedLink, at: Timestamp): Promise<LinkedUser | undefined> {
  return tx.first(query(linked)`
    with used as (
      delete from sign_in_links
      where token_hash = ${used.token_hash} and ${linkWorks(at)}
        and (public_url = ${used.public_url}::text or (public_url is null and ${used.isThisMachine}))
      returning user_id, public_url is not null as is_public)
    select u.id, u.name, coalesce(nullif(u.display_name, ''), u.name) as display_name, u.instance_admin,
      o.id as personal_org_id, used.is_public
    from used join users u on u.id = used.user_id
    join organizations o on o.owner_user_id = u.id and o.kind = 'personal'
    where u.disabled_at is null and u.deleted_at is null`);
}

/** Finds who runs the installation: of its administrators who may sign in, the first one. */
export async function findFirstAdministrator(db: Executor): Promise<string | undefined> {
  const found = await db.first(query({ name: text })`
    select name from users where instance_admin and disabled_at is null and deleted_at is null
    order by id limit 1`);
  return found?.name;
}
