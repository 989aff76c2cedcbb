import type { AnswerOf, InputOf } from "../../api/contract.ts";
import { ask } from "../../api/queries.ts";
import { dayOf, endOfDay, startOfDay } from "../../domain/days.ts";
import { oneOf, positive, reads, text } from "../../domain/search-params.ts";

export type Write = AnswerOf<"GET /audit-log/{org}">["entries"][number];
export type MembershipChange = AnswerOf<"GET /membership-audit-log/{org}">["entries"][number];

/** How many entries stand on a page. */
const perPage = 50;

/** What the address of the log says: which of both logs, filters, order and page. */
export const auditSearch = reads({
  kind: oneOf("members"),
  actor: text,
  action: text,
  type: text,
  resource: text,
  q: text,
  event: oneOf("added", "changed", "removed"),
  role: oneOf("admin", "member", "snapshotter", "reader"),
  from: dayOf,
  to: dayOf,
  direction: oneOf("asc"),
  page: positive,
});
export type AuditSearch = ReturnType<typeof auditSearch>;

const between = ({ from, to }: AuditSearch) => ({
  from_timestamp: startOfDay(from),
  to_timestamp: endOfDay(to),
});

/** Says what to ask of the log of every write. */
function writesInput(org: string, search: AuditSearch): InputOf<"GET /audit-log/{org}"> {
  const { actor, action, type, resource, direction = "desc", page = 1 } = search;
  const query = { actor, action, resource_type: type, resource, ...between(search) };
  return { params: { org }, query: { ...query, sort_direction: direction, page, per_page: perPage } };
}

/** Says what to ask of the log of members and roles. */
function membershipInput(org: string, search: AuditSearch): InputOf<"GET /membership-audit-log/{org}"> {
  const { q, event, role, direction = "desc", page = 1 } = search;
  const query = { search: q, event_type: event, role: role === undefined ? undefined : [role] };
  return {
    params: { org },
    query: { ...query, ...between(search), sort_dir: direction, page, per_page: perPage },
  };
}

/** Asks for a page of everything that was written. */
export const writesQuery = (org: string, search: AuditSearch) =>
  ask("GET /audit-log/{org}", writesInput(org, search));

/** Asks for a page of what became of members and roles. */
export const membershipQuery = (org: string, search: AuditSearch) =>
  ask("GET /membership-audit-log/{org}", membershipInput(org, search));
