import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, type Query, type Sql, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";

export interface NewUser {
  id: string;
  name: string;
  email: string | null;
  display_name: string | null;
  instance_admin: boolean;
  created_at: Timestamp;
}

/** Inserts a user. @returns false when the name is taken; then nothing happened. */
export async function insertUser(tx: Tx, user: NewUser): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into users (id, name, email, display_name, instance_admin, created_at)
    values (${user.id}, ${user.name}, ${user.email}, ${user.display_name}, ${user.instance_admin},
      ${moment(user.created_at)})
    on conflict (name) do nothing`);
  return inserted > 0;
}

/** Says whether a user has this mail address, in any case. */
export async function isEmailTaken(tx: Tx, email: string): Promise<boolean> {
  const user = await tx.first(query({ id: uuid })`
    select id from users
    where lower(email) = lower(${email}::text) and email is not null and deleted_at is null limit 1`);
  return user !== undefined;
}

const user = { id: uuid, name: text, personal_org_id: uuid, disabled_at: nullable(timestamp) };

/** A user who was not removed, and the organization that is theirs alone. */
export type UserRow = RowOf<typeof user>;

function userWith(condition: Sql): Query<UserRow> {
  return query(user)`
    select u.id, u.name, o.id as personal_org_id, u.disabled_at
    from users u join organizations o on o.owner_user_id = u.id and o.kind = 'personal'
    where u.deleted_at is null and ${condition}`;
}

/** Finds the user of this name. */
export function findUser(db: Executor, name: string): Promise<UserRow | undefined> {
  return db.first(userWith(sql`u.name = ${name}`));
}

/** Finds the user with this id, who must exist. */
export function getUser(db: Executor, userId: string): Promise<UserRow> {
  return db.one(userWith(sql`u.id = ${userId}`));
}

/** Says whether there is any user at all. */
export async function hasUsers(db: Executor): Promise<boolean> {
  return (await db.first(query({ id: uuid })`select id from users limit 1`)) !== undefined;
}

/** Disables a user, or enables them again. @param at null lets the user in again. */
export async function updateDisabled(tx: Tx, userId: string, at: Timestamp | null): Promise<void> {
  await tx.run(sql`update users set disabled_at = ${moment(at)} where id = ${userId}`);
}

/** Finds the organization of this name, if the user is a member. */
export function findOwnOrganization(
  db: Executor,
  userId: string,
  orgName: string,
): Promise<{ id: string } | undefined> {
  return db.first(query({ id: uuid })`
    select o.id from organizations o join memberships m on m.org_id = o.id
    where o.name = ${orgName} and m.user_id = ${userId}`);
}

/** Reads the name of a user's default organization, while they are a member of it. */
export async function findDefaultOrganization(db: Executor, userId: string): Promise<string | undefined> {
  const found = await db.first(query({ name: text })`
    select o.name from users u
    join organizations o on o.id = u.default_org_id
    join memberships m on m.org_id = o.id and m.user_id = u.id
    where u.id = ${userId}`);
  return found?.name;
}

/** Makes an organization the default one of a user. @returns whether it was another one before. */
export async function updateDefaultOrganization(tx: Tx, userId: string, orgId: string): Promise<boolean> {
  const changed = await tx.run(sql`
    update users set default_org_id = ${orgId} where id = ${userId} and default_org_id is distinct from ${orgId}`);
  return changed > 0;
}

/** Reads the name of the organization a service account belongs to. */
export async function getServiceAccountOrganization(db: Executor, accountId: string): Promise<string> {
  const { name } = await db.one(query({ name: text })`
    select o.name from service_accounts s join organizations o on o.id = s.org_id where s.id = ${accountId}`);
  return name;
}

const profile = { name: text, display_name: text, email: text, default_org_name: text };

/** What somebody is told about themselves. Texts that they do not have are empty. */
export type ProfileRow = RowOf<typeof profile>;

/** Reads the profile of a user, who must exist. The default organization counts while they are a member of it. */
export function getUserProfile(db: Executor, userId: string): Promise<ProfileRow> {
  return db.one(query("user-profile", profile)`
    select u.name, coalesce(u.display_name, '') as display_name, coalesce(u.email, '') as email,
      coalesce((
        select o.name from organizations o join memberships m on m.org_id = o.id and m.user_id = u.id
        where o.id = u.default_org_id), '') as default_org_name
    from users u where u.id = ${userId}`);
}

/** Reads the profile of a service account, which has no mail address, and works in its own organization. */
export function getAccountProfile(db: Executor, orgId: string, accountId: string): Promise<ProfileRow> {
  return db.one(query("account-profile", profile)`
    select s.name, s.display_name, '' as email, o.name as default_org_name
    from service_accounts s join organizations o on o.id = s.org_id
    where s.org_id = ${orgId} and s.id = ${accountId}`);
}

const listed = {
  name: text,
  email: nullable(text),
  display_name: nullable(text),
  instance_admin: boolean,
  created_at: timestamp,
  disabled_at: nullable(timestamp),
};

/** A user as those who run the installation see them. */
export type ListedUser = RowOf<typeof listed>;

/** Lists every user of the installation by name. */
export function listUsers(db: Executor): Promise<ListedUser[]> {
  return db.all(query(listed)`
    select name, email, display_name, instance_admin, created_at, disabled_at
    from users where deleted_at is null order by name`);
}

/** Makes a user an administrator of the installation, or no longer one. */
export async function updateInstanceAdmin(tx: Tx, userId: string, admin: boolean): Promise<void> {
  await tx.run(sql`update users set instance_admin = ${admin} where id = ${userId}`);
}

/** Says whether somebody else is an administrator of the installation and able to act as one. */
export async function hasOtherInstanceAdmin(tx: Tx, userId: string): Promise<boolean> {
  const other = await tx.first(query({ id: uuid })`
    select id from users
    where instance_admin and id <> ${userId} and disabled_at is null and deleted_at is null limit 1`);
  return other !== undefined;
}

/** Finds which of these names users or organizations have. */
export async function listTakenNames(tx: Tx, names: readonly string[]): Promise<Set<string>> {
  const taken = await tx.all(query({ name: text })`
    select name from organizations where name = any(${names}::text[])
    union select name from users where name = any(${names}::text[])`);
  return new Set(taken.map(({ name }) => name));
}

/** Lists the mail addresses of those who run the installation, of the first hundred. */
export async function listAdministratorAddresses(db: Executor): Promise<string[]> {
  const rows = await db.all(query({ email: text })`
    select email from users
    where instance_admin and email is not null and email <> '' and disabled_at is null and deleted_at is null
    order by id limit 100`);
  return rows.map(({ email }) => email);
}
