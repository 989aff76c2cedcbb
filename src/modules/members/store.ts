import { sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import { moment } from "../../db/columns.ts";
import type { Role } from "../../domain/roles.ts";
import type { Timestamp } from "../../lib/clock.ts";

export interface NewMembership {
  org_id: string;
  user_id: string;
  role: Role;
  created_at: Timestamp;
}

/** Makes a user a member of an organization they are not in yet. */
export async function insertMembership(tx: Tx, membership: NewMembership): Promise<void> {
  await tx
    .insertInto("memberships")
    .values({ ...membership, created_at: moment(membership.created_at) })
    .execute();
}

/** Gives a member another role; since when they are a member stays. */
export async function updateMembership(tx: Tx, orgId: string, userId: string, role: Role): Promise<void> {
  await tx
    .updateTable("memberships")
    .set({ role })
    .where("org_id", "=", orgId)
    .where("user_id", "=", userId)
    .execute();
}

export async function deleteMembership(tx: Tx, orgId: string, userId: string): Promise<void> {
  await tx.deleteFrom("memberships").where("org_id", "=", orgId).where("user_id", "=", userId).execute();
}

/** Lets one transaction at a time change who is a member. Records that refer to the organization are not held up. */
export async function lockMemberships(tx: Tx, orgId: string): Promise<void> {
  await tx
    .selectFrom("organizations")
    .select("id")
    .where("id", "=", orgId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

/** Whether somebody else than this user is an admin and able to act as one. */
export async function hasOtherAdmin(db: Executor, orgId: string, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom("memberships as m")
    .innerJoin("users as u", "u.id", "m.user_id")
    .select("m.user_id")
    .where("m.org_id", "=", orgId)
    .where("m.role", "=", "admin")
    .where("m.user_id", "<>", userId)
    .where("u.disabled_at", "is", null)
    .where("u.deleted_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** A user, and what they are in one organization. */
export interface UserInOrganization {
  user_id: string;
  user: string;
  display_name: string;
  disabled: boolean;
  role: Role | null;
  created_at: Timestamp | null;
}

/** Any user of the installation by name, with their role in the organization, if they have one. */
export async function findUserInOrganization(
  db: Executor,
  orgId: string,
  userName: string,
): Promise<UserInOrganization | undefined> {
  const row = await db
    .selectFrom("users as u")
    .leftJoin("memberships as m", (join) => join.onRef("m.user_id", "=", "u.id").on("m.org_id", "=", orgId))
    .select((users) => [
      "u.id as user_id",
      "u.name as user",
      sql<string>`coalesce(u.display_name, '')`.as("display_name"),
      users("u.disabled_at", "is not", null).as("disabled"),
      sql<Role | null>`m.role`.as("role"),
      "m.created_at",
    ])
    .where("u.name", "=", userName)
    .where("u.deleted_at", "is", null)
    .executeTakeFirst();
  return row === undefined ? undefined : { ...row, disabled: Boolean(row.disabled) };
}

/** A member as they are shown. */
export interface MemberRow {
  user: string;
  display_name: string;
  role: Role;
  created_at: Timestamp;
  disabled: boolean;
}

/** The members by name. */
export async function listMembers(db: Executor, orgId: string): Promise<MemberRow[]> {
  const rows = await db
    .selectFrom("memberships as m")
    .innerJoin("users as u", "u.id", "m.user_id")
    .select((members) => [
      "u.name as user",
      sql<string>`coalesce(u.display_name, '')`.as("display_name"),
      sql<Role>`m.role`.as("role"),
      "m.created_at",
      members("u.disabled_at", "is not", null).as("disabled"),
    ])
    .where("m.org_id", "=", orgId)
    .where("u.deleted_at", "is", null)
    .orderBy("u.name")
    .execute();
  return rows.map((row) => ({ ...row, disabled: Boolean(row.disabled) }));
}
