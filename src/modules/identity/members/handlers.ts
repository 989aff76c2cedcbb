import type { memberEndpoints } from "../../../contract/members.ts";
import { pageOf } from "../../../contract/pagination.ts";
import { pageHead } from "../../../lib/links.ts";
import { pagesInBatches } from "../../../lib/batches.ts";
import type { CsvHandlers, Handlers } from "../../kernel/call.ts";
import { removeMember, setMember } from "./service.ts";
import { endMemberSessions, listMemberSessions } from "./session-service.ts";
import { countMembershipEvents, listMembers, listMembershipEvents } from "./store.ts";

export const memberHandlers: Handlers<typeof memberEndpoints> = {
  list_members: async (deps, call) => ({
    status: 200,
    body: await listMembers(deps.db, call.org.id),
  }),

  put_member: async (deps, call) => {
    const change = { user: call.params.user, role: call.body.role, source: "app" } as const;
    const { member, added } = await setMember(deps, call, change);
    return { status: added ? 201 : 200, body: member };
  },

  delete_member: async (deps, call) => {
    await removeMember(deps, call, { user: call.params.user, source: "app" });
    return { status: 200, body: "OK" };
  },

  list_member_sessions: async (deps, call) => {
    const sessions = await listMemberSessions(deps, call, call.params.user);
    return { status: 200, body: pageOf(sessions, call.query) };
  },

  delete_member_sessions: async (deps, call) => {
    await endMemberSessions(deps, call, call.params.user);
    return { status: 200, body: "OK" };
  },

  list_audit_log: async (deps, call) => {
    const total_count = await countMembershipEvents(deps.db, call.org.id, call.query);
    const entries = await listMembershipEvents(deps.db, call.org.id, call.query, call.query);
    return { status: 200, body: { ...pageHead(call.url, call.query, total_count), entries } };
  },
};

/** Changes that are read at a time for CSV. */
const batch = 1000;

export const memberCsv: CsvHandlers<typeof memberEndpoints> = {
  // Nothing that happens meanwhile moves what the later pages begin with.
  list_audit_log: (deps, { org, query }) => {
    const now = deps.clock.now();
    const until = { ...query, to_timestamp: Math.min(query.to_timestamp ?? now, now) };
    return pagesInBatches(batch, (page) =>
      deps.db.sliced(() => listMembershipEvents(deps.db, org.id, until, { ...query, ...page })),
    );
  },
};
