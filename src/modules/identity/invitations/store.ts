import type { Executor, Tx } from "../../../db/connect.ts";
import { integer, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { invitationSeconds, mostInvitations } from "../../../domain/invitations.ts";
import { type Role, roles } from "../../../domain/roles.ts";
import type { Timestamp } from "../../../lib/clock.ts";

const lifetime = raw(`interval '${invitationSeconds} seconds'`);

/** SQL for: young enough, and made by somebody who still is an admin of the organization and able to act as one. */
function worksAt(at: Timestamp): Sql {
  return sql`i.created_at > ${moment(at)} - ${lifetime} and (
    exists (
      select from memberships m join users u on u.id = m.user_id
      where m.org_id = i.org_id and m.user_id = i.invited_by_id and m.role = 'admin'
        and u.disabled_at is null and u.deleted_at is null)
    or exists (
      select from service_accounts s
      where s.org_id = i.org_id and s.id = i.invited_by_id and s.privilege = 'admin' and s.archived_at is null))`;
}

const invitation = {
  id: uuid,
  user: text,
  email: text,
  role: oneOf(roles),
  invited_by: text,
  created_at: timestamp,
  expires_at: timestamp,
};

/** An open invitation. */
export type InvitationRow = RowOf<typeof invitation>;

/** Reckoned in UTC, which depends on no setting: Citus returns nothing else of a row that is deleted. */
const endsAt = sql`(i.created_at at time zone 'UTC' + ${lifetime}) at time zone 'UTC'`;

const shownColumns = sql`i.id, i.user_name as "user", coalesce(i.email, '') as email, i.role, i.invited_by_name as invited_by,
  i.created_at, ${endsAt} as expires_at`;

export interface NewInvitation {
  id: string;
  token_hash: Buffer;
  user: string;
  email: string | null;
  role: Role;
  invited_by: { id: string; name: string };
  created_at: Timestamp;
}

/** Inserts an invitation, in the place of one for the same name, and forgets those that have ended. */
export async function insertInvitation(tx: Tx, orgId: string, made: NewInvitation): Promise<InvitationRow> {
  await tx.run(sql`
    delete from invitations i where i.org_id = ${orgId} and not (${worksAt(made.created_at)})`);
  return tx.one(query(invitation)`
    insert into invitations as i (org_id, id, token_hash, user_name, email, role, invited_by_id, invited_by_name,
      created_at)
    values (${orgId}, ${made.id}, ${made.token_hash}, ${made.user}, ${made.email}, ${made.role}, ${made.invited_by.id},
      ${made.invited_by.name}, ${moment(made.created_at)})
    on conflict (org_id, user_name) do update set id = excluded.id, token_hash = excluded.token_hash,
      email = excluded.email, role = excluded.role, invited_by_id = excluded.invited_by_id,
      invited_by_name = excluded.invited_by_name, created_at = excluded.created_at
    returning ${shownColumns}`);
}

/** Counts the open invitations for others than this one. */
export async function countOtherInvitations(
  db: Executor,
  orgId: string,
  user: string,
  at: Timestamp,
): Promise<number> {
  const { total } = await db.one(query({ total: integer })`
    select count(*)::integer as total from invitations i
    where i.org_id = ${orgId} and i.user_name <> ${user} and ${worksAt(at)}`);
  return total;
}

/** Lists the open invitations, the latest first. There are hardly more than `mostInvitations`. */
export function listInvitations(db: Executor, orgId: string, at: Timestamp): Promise<InvitationRow[]> {
  return db.all(query(invitation)`
    select ${shownColumns} from invitations i where i.org_id = ${orgId} and ${worksAt(at)}
    order by i.id desc limit ${raw(String(2 * mostInvitations))}`);
}

/** Takes an open invitation back. @returns for whom it was; undefined when there is no such invitation. */
export async function deleteInvitation(
  tx: Tx,
  orgId: string,
  id: string,
  at: Timestamp,
): Promise<string | undefined> {
  const deleted = await tx.first(query({ user: text })`
    delete from invitations i where i.org_id = ${orgId} and i.id = ${id} and ${worksAt(at)}
    returning i.user_name as "user"`);
  return deleted?.user;
}

const accepted = { ...invitation, org_id: uuid };

/** Uses an invitation up. @returns undefined when it cannot be accepted. */
export function deleteAcceptedInvitation(
  tx: Tx,
  hash: Buffer,
  at: Timestamp,
): Promise<RowOf<typeof accepted> | undefined> {
  return tx.first(query(accepted)`
    delete from invitations i where i.token_hash = ${hash} and ${worksAt(at)}
    returning ${shownColumns}, i.org_id`);
}
