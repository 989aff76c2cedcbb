import { type ExpressionBuilder, sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import { instant, moment } from "../../db/columns.ts";
import type { DB } from "../../db/schema.ts";
import type { Role } from "../../domain/roles.ts";
import type { Timestamp } from "../../lib/clock.ts";

export interface MembershipEventRow {
  when: Timestamp;
  user: string;
  role: Role | null;
  previous_role: Role | null;
  event_type: "added" | "changed" | "removed";
  changed_by: string;
  source: string;
}

export interface NewMembershipEvent extends MembershipEventRow {
  org_id: string;
  id: string;
  user_id: string;
}

/** Writes down one change of membership, for good. */
export async function insertMembershipEvent(tx: Tx, event: NewMembershipEvent): Promise<void> {
  const { when, user, changed_by, ...rest } = event;
  await tx
    .insertInto("membership_events")
    .values({ ...rest, occurred_at: moment(when), user_name: user, changed_by_name: changed_by })
    .execute();
}

/** Which changes, in which order. Bounds are inclusive, Unix seconds. */
export interface MembershipEventFilter {
  search?: string | undefined;
  event_type?: string | undefined;
  role?: string[] | undefined;
  source?: string[] | undefined;
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

export interface MembershipEventPage {
  page: number;
  per_page: number;
  sort_by: keyof typeof sortColumns;
  sort_dir: "asc" | "desc";
}

function matching(orgId: string, filter: MembershipEventFilter) {
  return (events: ExpressionBuilder<DB, "membership_events">) => {
    const { search, event_type, role, source, from_timestamp, to_timestamp } = filter;
    const part = `%${(search ?? "").replace(/[\\%_]/g, "\\$&")}%`;
    return events.and([
      events("org_id", "=", orgId),
      ...(search === undefined
        ? []
        : [events.or([events("user_name", "ilike", part), events("changed_by_name", "ilike", part)])]),
      ...(event_type === undefined ? [] : [events("event_type", "=", event_type)]),
      ...(role === undefined ? [] : [events("role", "in", role)]),
      ...(source === undefined ? [] : [events("source", "in", source)]),
      ...(from_timestamp === undefined ? [] : [events("occurred_at", ">=", instant(from_timestamp))]),
      ...(to_timestamp === undefined ? [] : [events("occurred_at", "<=", instant(to_timestamp))]),
    ]);
  };
}

/** How many changes match. */
export async function countMembershipEvents(
  db: Executor,
  orgId: string,
  filter: MembershipEventFilter,
): Promise<number> {
  const { total } = await db
    .selectFrom("membership_events")
    .select(sql<number>`count(*)`.as("total"))
    .where(matching(orgId, filter))
    .executeTakeFirstOrThrow();
  return total;
}

/** One page of the changes that match. Changes that are alike in the sort column follow time. */
export async function listMembershipEvents(
  db: Executor,
  orgId: string,
  filter: MembershipEventFilter,
  page: MembershipEventPage,
): Promise<MembershipEventRow[]> {
  const direction = sql.raw(page.sort_dir);
  const column = sql.ref(sortColumns[page.sort_by]);
  const collation = sql.raw(page.sort_by === "when" ? "" : 'collate "C"');
  return db
    .selectFrom("membership_events")
    .select([
      "occurred_at as when",
      "user_name as user",
      sql<Role | null>`role`.as("role"),
      sql<Role | null>`previous_role`.as("previous_role"),
      sql<MembershipEventRow["event_type"]>`event_type`.as("event_type"),
      "changed_by_name as changed_by",
      "source",
    ])
    .where(matching(orgId, filter))
    .orderBy(sql`${column} ${collation} ${direction} nulls last, occurred_at ${direction}, id ${direction}`)
    .limit(page.per_page)
    .offset((page.page - 1) * page.per_page)
    .execute();
}
