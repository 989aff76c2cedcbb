import type { memberEndpoints } from "../../contract/members.ts";
import { pageHead } from "../../lib/links.ts";
import type { Handlers } from "../call.ts";
import { countMembershipEvents, listMembershipEvents } from "./event-store.ts";
import { removeMember, setMember } from "./service.ts";
import { listMembers } from "./store.ts";

export const memberHandlers: Handlers<typeof memberEndpoints> = {
  list_members: async (deps, call) => ({
    status: 200,
    body: await listMembers(deps.db.query, call.org.id),
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

  list_audit_log: async (deps, call) => {
    const total_count = await countMembershipEvents(deps.db.query, call.org.id, call.query);
    const entries = await listMembershipEvents(deps.db.query, call.org.id, call.query, call.query);
    return { status: 200, body: { ...pageHead(call.url, call.query, total_count), entries } };
  },
};
