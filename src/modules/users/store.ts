import { sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import { moment, momentOrNull } from "../../db/columns.ts";
import type { Timestamp } from "../../lib/clock.ts";

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
  const inserted = await tx
    .insertInto("users")
    .values({ ...user, created_at: moment(user.created_at) })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows !== 0n;
}

/** Whether a user has this mail address, in any case. */
export async function isEmailTaken(tx: Tx, email: string): Promise<boolean> {
  const user = await tx
    .selectFrom("users")
    .select("id")
    .where(sql`lower(email)`, "=", sql`lower(${email}::text)`)
    .where("email", "is not", null)
    .where("deleted_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  return user !== undefined;
}

/** A user with what concerns only them. */
export interface UserRow {
  id: string;
  name: string;
  personal_org_id: string;
  disabled_at: Timestamp | null;
}

function users(db: Executor) {
  return db
    .selectFrom("users as u")
    .innerJoin("organizations as o", (join) =>
      join.onRef("o.owner_user_id", "=", "u.id").on("o.kind", "=", "personal"),
    )
    .select(["u.id", "u.name", "o.id as personal_org_id", "u.disabled_at"])
    .where("u.deleted_at", "is", null);
}

/** The user of this name. */
export function findUser(db: Executor, name: string): Promise<UserRow | undefined> {
  return users(db).where("u.name", "=", name).executeTakeFirst();
}

/** The user with this id, who must exist. */
export function getUser(db: Executor, userId: string): Promise<UserRow> {
  return users(db).where("u.id", "=", userId).executeTakeFirstOrThrow();
}

/** Whether there is any user at all. */
export async function hasUsers(db: Executor): Promise<boolean> {
  return (await db.selectFrom("users").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/** @param at null lets the user in again. */
export async function updateDisabled(tx: Tx, userId: string, at: Timestamp | null): Promise<void> {
  await tx
    .updateTable("users")
    .set({ disabled_at: momentOrNull(at) })
    .where("id", "=", userId)
    .execute();
}

/** The organization of this name, if the user is a member. */
export function findOwnOrganization(
  db: Executor,
  userId: string,
  orgName: string,
): Promise<{ id: string } | undefined> {
  return db
    .selectFrom("organizations as o")
    .innerJoin("memberships as m", "m.org_id", "o.id")
    .select("o.id")
    .where("o.name", "=", orgName)
    .where("m.user_id", "=", userId)
    .executeTakeFirst();
}

/** The name of a user's default organization, while they are a member of it. */
export async function findDefaultOrganization(db: Executor, userId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("users as u")
    .innerJoin("organizations as o", "o.id", "u.default_org_id")
    .innerJoin("memberships as m", (join) =>
      join.onRef("m.org_id", "=", "o.id").onRef("m.user_id", "=", "u.id"),
    )
    .select("o.name")
    .where("u.id", "=", userId)
    .executeTakeFirst();
  return row?.name;
}

/** @returns whether it was another one before. */
export async function updateDefaultOrganization(tx: Tx, userId: string, orgId: string): Promise<boolean> {
  const result = await tx
    .updateTable("users")
    .set({ default_org_id: orgId })
    .where("id", "=", userId)
    .where(sql<boolean>`default_org_id is distinct from ${orgId}`)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** The name of the organization a service account belongs to. */
export async function getServiceAccountOrganization(db: Executor, accountId: string): Promise<string> {
  const row = await db
    .selectFrom("service_accounts as s")
    .innerJoin("organizations as o", "o.id", "s.org_id")
    .select("o.name")
    .where("s.id", "=", accountId)
    .executeTakeFirstOrThrow();
  return row.name;
}

/** A user as those who run the installation see them. */
export interface ListedUser {
  name: string;
  email: string | null;
  display_name: string | null;
  instance_admin: boolean;
  created_at: Timestamp;
  disabled_at: Timestamp | null;
}

/** Every user of the installation by name. */
export function listUsers(db: Executor): Promise<ListedUser[]> {
  return db
    .selectFrom("users")
    .select(["name", "email", "display_name", "instance_admin", "created_at", "disabled_at"])
    .where("deleted_at", "is", null)
    .orderBy("name")
    .execute();
}
