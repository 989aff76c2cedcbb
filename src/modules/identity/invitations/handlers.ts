import type { invitationEndpoints } from "../../../contract/invitations.ts";
import { paginationOf } from "../../../contract/pagination.ts";
import { forbidden } from "../../../domain/errors.ts";
import { providerForUsers } from "../../../domain/key-rules.ts";
import { setCookie, siteOf } from "../../../domain/sessions.ts";
import { isProviderRequired } from "../../kernel/access/rules-service.ts";
import type { Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { visitorOf } from "../sessions/service.ts";
import { acceptInvitation, invite, listOpenInvitations, withdraw } from "./service.ts";

/** Holds that people may come otherwise than by the sign-in provider. @throws AppError forbidden. */
function requireInvitations(deps: Pick<Deps, "config">): void {
  if (isProviderRequired(deps)) throw forbidden(providerForUsers);
}

export const invitationHandlers: Handlers<typeof invitationEndpoints> = {
  create_invitation: async (deps, call) => {
    requireInvitations(deps);
    const invitation = await invite(deps, call, call.body);
    // What follows `#` is never sent to a server, so that no log of one has it.
    const link = deps.links.web(`/-/invitation#token=${invitation.token}`);
    return { status: 201, body: { ...invitation, link } };
  },

  list_invitations: async (deps, call) => {
    const open = await listOpenInvitations(deps, call.org.id);
    const { page, per_page } = call.query;
    const data = open.slice((page - 1) * per_page, page * per_page);
    return { status: 200, body: { data, pagination: paginationOf(call.query, open.length) } };
  },

  delete_invitation: async (deps, call) => {
    await withdraw(deps, call, call.params.invitation_id);
    return { status: 200, body: "OK" };
  },

  accept_invitation: async (deps, call) => {
    requireInvitations(deps);
    const { user, token } = await acceptInvitation(deps, visitorOf(call), call.body);
    const cookie = setCookie(siteOf(deps.config.publicUrl), token);
    return { status: 201, body: user, headers: { "set-cookie": cookie } };
  },
};
