import type { Executor, Tx } from "../../../db/connect.ts";
import { countRows } from "../../../db/count-rows.ts";
import { boolean, nullable, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { identifier, join, moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { type Role, roles } from "../../../domain/roles.ts";
import { containsPattern } from "../../../lib/like.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { type PageNumbers, pageSlice } from "../../../lib/paging.ts";

export interface NewMembership {
  org_id: string;
  user_id: string;
  role: Role;
  created_at: Timestamp;
  /** Who looks after it: people, or the groups of a sign-in provider; people unless given. */
  managed_by?: ManagedBy;
}

/** Who looks after a membership: `app` people, `idp` the groups of a sign-in provider. */
const managers = ["app", "idp"] as const;
type ManagedBy = (typeof managers)[number];

/** Makes a user a member of an organization they are not in yet. */
export async function insertMembership(
  tx: Tx,
  { org_id, user_id, role, created_at, managed_by = "app" }: NewMembership,
): Promise<void> {
  await tx.run(sql`
    insert into memberships (org_id, user_id, role, created_at, source)
    values (${org_id}, ${user_id}, ${role}, ${moment(created_at)}, ${managed_by})`);
}

/** Gives a member another role; since when they are a member stays. From then on it is looked after by who changed it. */
export async function updateMembership(
  tx: Tx,
  { org_id, user_id, role, managed_by = "app" }: Omit<NewMembership, "created_at">,
): Promise<void> {
  await tx.run(sql`
    update memberships set role = ${role}, source = ${managed_by}
    where org_id = ${org_id} and user_id = ${user_id}`);
}

/** Takes a user out of an organization. */
export async function deleteMembership(tx: Tx, orgId: string, userId: string): Promise<void> {
  await tx.run(sql`delete from memberships where org_id = ${orgId} and user_id = ${userId}`);
}

/** Lets one transaction at a time change who is a member. Records that refer to the organization are not held up. */
export async function lockMemberships(tx: Tx, orgId: string): Promise<void> {
  await tx.one(query({ id: uuid })`select id from organizations where id = ${orgId} for no key update`);
}

/** Says whether somebody else than this user is an admin and able to act as one. */
export async function hasOtherAdmin(db: Executor, orgId: string, userId: string): Promise<boolean> {
  const other = await db.first(query({ user_id: uuid })`
    select m.user_id from memberships m join users u on u.id = m.user_id
    where m.org_id = ${orgId} and m.role = 'admin' and m.user_id <> ${userId}
      and u.disabled_at is null and u.deleted_at is null
    limit 1`);
  return other !== undefined;
}

const userInOrganization = {
  user_id: uuid,
  user: text,
  display_name: text,
  disabled: boolean,
  role: nullable(oneOf(roles)),
  source: nullable(oneOf(managers)),
  created_at: nullable(timestamp),
};

/** A user, and their role in one organization since when; null for somebody who is no member. */
export type UserInOrganization = RowOf<typeof userInOrganization>;

/** Finds any user of the installation by name, with their role in the organization, if they have one. */
export function findUserInOrganization(
  db: Executor,
  orgId: string,
  userName: string,
): Promise<UserInOrganization | undefined> {
  return db.first(query(userInOrganization)`
    select u.id as user_id, u.name as "user", coalesce(u.display_name, '') as display_name,
      u.disabled_at is not null as disabled, m.role, m.source, m.created_at
    from users u left join memberships m on m.user_id = u.id and m.org_id = ${orgId}
    where u.name = ${userName} and u.deleted_at is null`);
}

const member = {
  user: text,
  display_name: text,
  role: oneOf(roles),
  source: oneOf(managers),
  created_at: timestamp,
  disabled: boolean,
};

/** A member as they are shown. */
export type MemberRow = RowOf<typeof member>;

/** Lists the members by name. */
export function listMembers(db: Executor, orgId: string): Promise<MemberRow[]> {
  return db.all(query(member)`
    select u.name as "user", coalesce(u.display_name, '') as display_name, m.role, m.source, m.created_at,
      u.disabled_at is not null as disabled
    from memberships m join users u on u.id = m.user_id
    where m.org_id = ${orgId} and u.deleted_at is null
    order by u.name`);
}

const event = {
  when: timestamp,
  user: text,
  role: nullable(oneOf(roles)),
  previous_role: nullable(oneOf(roles)),
  event_type: oneOf(["added", "changed", "removed"]),
  changed_by: text,
  source: text,
};

/** One change of who is a member with which role; null stands for no member. */
export type MembershipEventRow = RowOf<typeof event>;

export interface NewMembershipEvent extends MembershipEventRow {
  org_id: string;
  id: string;
  user_id: string;
}

/** Writes down one change of membership, for good. */
export async function insertMembershipEvent(tx: Tx, change: NewMembershipEvent): Promise<void> {
  await tx.run(sql`
    insert into membership_events (org_id, id, occurred_at, event_type, user_id, user_name, role, previous_role,
      changed_by_name, source)
    values (${change.org_id}, ${change.id}, ${moment(change.when)}, ${change.event_type}, ${change.user_id},
      ${change.user}, ${change.role}, ${change.previous_role}, ${change.changed_by}, ${change.source})`);
}

/** Which changes are wanted. Bounds are inclusive, Unix seconds. */
export interface MembershipEventFilter {
  /** Part of the name of the user or of who changed it, in any case. */
  search?: string | undefined;
  event_type?: string | undefined;
  role?: readonly string[] | undefined;
  source?: readonly string[] | undefined;
  from_timestamp?: number | undefined;
  to_timestamp?: number | undefined;
}

const sortColumns = {
  when: "occurred_at",
  user: "user_name",
  role: "role",
  changed_by: "changed_by_name",
  source: "source",
} as const;

/** Which page of them, in which order. */
export interface MembershipEventPage extends PageNumbers {
  sort_by: keyof typeof sortColumns;
  sort_dir: "asc" | "desc";
}

function matching(orgId: string, filter: MembershipEventFilter): Sql {
  const { search, event_type, role, source, from_timestamp, to_timestamp } = filter;
  const part = containsPattern(search ?? "");
  return join(
    [
      sql`org_id = ${orgId}`,
      ...(search === undefined ? [] : [sql`(user_name ilike ${part} or changed_by_name ilike ${part})`]),
      ...(event_type === undefined ? [] : [sql`event_type = ${event_type}`]),
      ...(role === undefined ? [] : [sql`role = any(${role}::text[])`]),
      ...(source === undefined ? [] : [sql`source = any(${source}::text[])`]),
      ...(from_timestamp === undefined ? [] : [sql`occurred_at >= ${moment(from_timestamp)}`]),
      ...(to_timestamp === undefined ? [] : [sql`occurred_at <= ${moment(to_timestamp)}`]),
    ],
    " and ",
  );
}

/** Counts the changes that match. */
export function countMembershipEvents(
  db: Executor,
  orgId: string,
  filter: MembershipEventFilter,
): Promise<number> {
  return countRows(db, sql`membership_events where ${matching(orgId, filter)}`);
}

/** Lists one page of the changes that match. Changes that are alike in the sort column follow time. */
export function listMembershipEvents(
  db: Executor,
  orgId: string,
  filter: MembershipEventFilter,
  page: MembershipEventPage,
): Promise<MembershipEventRow[]> {
  const { limit, offset } = pageSlice(page);
  const direction = raw(page.sort_dir);
  const column = identifier(sortColumns[page.sort_by]);
  const collation = raw(page.sort_by === "when" ? "" : 'collate "C"');
  return db.all(query(event)`
    select occurred_at as "when", user_name as "user", role, previous_role, event_type, changed_by_name as changed_by,
      source
    from membership_events
    where ${matching(orgId, filter)}
    order by ${column} ${collation} ${direction} nulls last, occurred_at ${direction}, id ${direction}
    limit ${limit} offset ${offset}`);
}

const standing = {
  org_id: uuid,
  name: text,
  role: nullable(oneOf(roles)),
  source: nullable(oneOf(managers)),
};

/** A shared organization, and how a user stands in it; null for no member. */
export type Standing = RowOf<typeof standing>;

const standingOf = (userId: string): Sql => sql`
  select o.id as org_id, o.name, m.role, m.source
  from organizations o left join memberships m on m.org_id = o.id and m.user_id = ${userId}`;

/** Reads how a user stands in an organization, which must exist. */
export function getStanding(db: Executor, orgId: string, userId: string): Promise<Standing> {
  return db.one(query(standing)`${standingOf(userId)} where o.id = ${orgId}`);
}

/**
 * Lists the shared organizations that a user is in by the groups of a provider, those of these names, and with `all` every one, in the
 * order of their ids.
 */
export function listStandings(
  db: Executor,
  userId: string,
  wanted: { names: readonly string[]; all: boolean; limit: number },
): Promise<Standing[]> {
  return db.all(query(standing)`
    ${standingOf(userId)}
    where o.kind = 'shared' and (${wanted.all} or o.name = any(${wanted.names}::text[]) or m.source = 'idp')
    order by o.id limit ${wanted.limit}`);
}

/**
 * Finds the personal organization of a user who has no other role: in no shared organization, nor over the installation. What others change
 * about the user meanwhile waits for the transaction to end, so that of several who take roles away the last one sees it.
 */
export async function findHomeWithoutRole(tx: Tx, userId: string): Promise<string | undefined> {
  await tx.one(query({ id: uuid })`select id from users where id = ${userId} for no key update`);
  const home = await tx.first(query({ id: uuid })`
    select o.id from users u join organizations o on o.owner_user_id = u.id and o.kind = 'personal'
    where u.id = ${userId} and not u.instance_admin and not exists (
      select from memberships m join organizations s on s.id = m.org_id
      where m.user_id = u.id and s.kind = 'shared')`);
  return home?.id;
}
