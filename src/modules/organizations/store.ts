import { sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import { moment } from "../../db/columns.ts";
import type { Role } from "../../domain/roles.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** What people may set. */
export interface OrganizationSettings {
  display_name: string;
  description: string;
  public: boolean;
}

export interface NewOrganization extends Partial<OrganizationSettings> {
  id: string;
  name: string;
  kind: "personal" | "shared";
  owner_user_id: string | null;
  created_at: Timestamp;
}

/** Inserts an organization with its counters. @returns false when the name is taken; then nothing happened. */
export async function insertOrganization(tx: Tx, organization: NewOrganization): Promise<boolean> {
  const at = moment(organization.created_at);
  const inserted = await tx
    .insertInto("organizations")
    .values({ ...organization, created_at: at, last_modified_at: at })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows === 0n) return false;
  await tx.insertInto("org_counters").values({ org_id: organization.id }).execute();
  return true;
}

/** An organization as it is shown. */
export interface OrganizationRow extends OrganizationSettings {
  name: string;
  kind: "personal" | "shared";
  created_at: Timestamp;
  last_modified_at: Timestamp;
}

const shown = [
  "o.name",
  "o.display_name",
  "o.description",
  "o.public",
  "o.created_at",
  "o.last_modified_at",
] as const;
const kind = sql<"personal" | "shared">`o.kind`.as("kind");

/** The organization with this id, which must exist. */
export function getOrganization(db: Executor, orgId: string): Promise<OrganizationRow> {
  return db
    .selectFrom("organizations as o")
    .select(shown)
    .select(kind)
    .where("o.id", "=", orgId)
    .executeTakeFirstOrThrow();
}

/** The same, and nobody else changes it until the transaction ends. */
export function getOrganizationForUpdate(tx: Tx, orgId: string): Promise<OrganizationRow> {
  return tx
    .selectFrom("organizations as o")
    .select(shown)
    .select(kind)
    .where("o.id", "=", orgId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

export async function updateOrganization(
  tx: Tx,
  orgId: string,
  settings: OrganizationSettings,
  at: Timestamp,
): Promise<void> {
  await tx
    .updateTable("organizations")
    .set({ ...settings, last_modified_at: moment(at) })
    .where("id", "=", orgId)
    .execute();
}

/** One of somebody's organizations, and what they are there. */
export interface OwnOrganizationRow extends OrganizationRow {
  role: Role;
}

/** The organizations a user is a member of, by name. */
export function listOrganizationsOfUser(db: Executor, userId: string): Promise<OwnOrganizationRow[]> {
  return db
    .selectFrom("memberships as m")
    .innerJoin("organizations as o", "o.id", "m.org_id")
    .select(shown)
    .select([kind, sql<Role>`m.role`.as("role")])
    .where("m.user_id", "=", userId)
    .orderBy("o.name")
    .execute();
}

/** The one organization a service account belongs to. */
export function listOrganizationsOfServiceAccount(
  db: Executor,
  accountId: string,
): Promise<OwnOrganizationRow[]> {
  return db
    .selectFrom("service_accounts as s")
    .innerJoin("organizations as o", "o.id", "s.org_id")
    .select(shown)
    .select([kind, sql<Role>`s.privilege`.as("role")])
    .where("s.id", "=", accountId)
    .execute();
}

/** Every organization of the installation by name, with the number of its members. */
export function listAllOrganizations(db: Executor): Promise<(OrganizationRow & { members: number })[]> {
  return db
    .selectFrom("organizations as o")
    .select(shown)
    .select([kind, sql<number>`(select count(*) from memberships m where m.org_id = o.id)`.as("members")])
    .orderBy("o.name")
    .execute();
}

/** A user who can own an organization, by name. */
export function findOwner(db: Executor, userName: string): Promise<{ id: string; name: string } | undefined> {
  return db
    .selectFrom("users")
    .select(["id", "name"])
    .where("name", "=", userName)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
}

/** An organization by name, for commands of those who run the installation. */
export function findOrganization(
  db: Executor,
  name: string,
): Promise<{ id: string; name: string; kind: "personal" | "shared" } | undefined> {
  return db
    .selectFrom("organizations as o")
    .select(["o.id", "o.name", kind])
    .where("o.name", "=", name)
    .executeTakeFirst();
}
