import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, integer, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, raw, sql } from "../../../db/sql.ts";
import { type Org, type OrganizationKind, organizationKinds } from "../../../domain/principal.ts";
import { roles } from "../../../domain/roles.ts";
import type { Timestamp } from "../../../lib/clock.ts";

const settings = { display_name: text, description: text, public: boolean };

/** What people may set. */
export type OrganizationSettings = RowOf<typeof settings>;

export interface NewOrganization extends Partial<OrganizationSettings> {
  id: string;
  name: string;
  kind: OrganizationKind;
  owner_user_id: string | null;
  created_at: Timestamp;
}

/** Inserts an organization with its counters. @returns false when the name is taken; then nothing happened. */
export async function insertOrganization(tx: Tx, organization: NewOrganization): Promise<boolean> {
  const { id, name, kind, owner_user_id, display_name = "", description = "" } = organization;
  const at = moment(organization.created_at);
  const inserted = await tx.run(sql`
    insert into organizations (id, name, kind, owner_user_id, display_name, description, public, created_at,
      last_modified_at)
    values (${id}, ${name}, ${kind}, ${owner_user_id}, ${display_name}, ${description}, ${organization.public ?? false},
      ${at}, ${at})
    on conflict (name) do nothing`);
  if (inserted === 0) return false;
  await tx.run(sql`insert into org_counters (org_id) values (${id})`);
  return true;
}

const shown = {
  name: text,
  ...settings,
  created_at: timestamp,
  last_modified_at: timestamp,
  kind: oneOf(organizationKinds),
};

/** An organization as it is shown. */
export type OrganizationRow = RowOf<typeof shown>;

const shownColumns = raw(
  "o.name, o.display_name, o.description, o.public, o.created_at, o.last_modified_at, o.kind",
);

/** Finds the organization with this id, which must exist. */
export function getOrganization(db: Executor, orgId: string): Promise<OrganizationRow> {
  return db.one(query(shown)`select ${shownColumns} from organizations o where o.id = ${orgId}`);
}

/** Finds the organization with this id, which must exist and nobody else changes until the transaction ends. */
export function getOrganizationForUpdate(tx: Tx, orgId: string): Promise<OrganizationRow> {
  return tx.one(query(shown)`
    select ${shownColumns} from organizations o where o.id = ${orgId} for no key update`);
}

/** Changes the settings of an organization. */
export async function updateOrganization(
  tx: Tx,
  orgId: string,
  { display_name, description, public: isPublic }: OrganizationSettings,
  at: Timestamp,
): Promise<void> {
  await tx.run(sql`
    update organizations
    set display_name = ${display_name}, description = ${description}, public = ${isPublic},
      last_modified_at = ${moment(at)}
    where id = ${orgId}`);
}

const own = { ...shown, role: oneOf(roles) };

/** One of somebody's organizations, and their role there. */
export type OwnOrganizationRow = RowOf<typeof own>;

/** Lists the organizations a user is a member of, by name. */
export function listOrganizationsOfUser(db: Executor, userId: string): Promise<OwnOrganizationRow[]> {
  return db.all(query(own)`
    select ${shownColumns}, m.role from memberships m join organizations o on o.id = m.org_id
    where m.user_id = ${userId} order by o.name`);
}

/** Lists the one organization a service account belongs to. */
export function listOrganizationsOfServiceAccount(
  db: Executor,
  accountId: string,
): Promise<OwnOrganizationRow[]> {
  return db.all(query(own)`
    select ${shownColumns}, s.privilege as role from service_accounts s join organizations o on o.id = s.org_id
    where s.id = ${accountId}`);
}

/** Lists every organization of the installation by name, with the number of its members. */
export function listAllOrganizations(db: Executor): Promise<(OrganizationRow & { members: number })[]> {
  return db.all(query({ ...shown, members: integer })`
    select ${shownColumns}, (select count(*) from memberships m where m.org_id = o.id) as members
    from organizations o order by o.name`);
}

/** Finds a user who can own an organization, by name. */
export function findOwner(db: Executor, userName: string): Promise<{ id: string; name: string } | undefined> {
  return db.first(query({ id: uuid, name: text })`
    select id, name from users where name = ${userName} and deleted_at is null`);
}

/** Finds an organization by name, for commands of those who run the installation. */
export function findOrganization(
  db: Executor,
  name: string,
): Promise<(Org & { kind: OrganizationKind }) | undefined> {
  return db.first(query({ id: uuid, name: text, kind: oneOf(organizationKinds) })`
    select id, name, kind from organizations where name = ${name}`);
}
