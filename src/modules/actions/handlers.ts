import type { z } from "zod";

import type {
  ActionResponse,
  actionEndpoints,
  EnvActionPutInput,
  EnvNotificationsResponse,
} from "../../contract/actions.ts";
import type { TargetResponse } from "../../contract/action-targets.ts";
import { type ActionType, type OpenTarget, parseActionNumber } from "../../domain/actions.ts";
import type { OrgAccess } from "../../domain/principal.ts";
import type { Handlers } from "../call.ts";
import type { Deps } from "../deps.ts";
import { type ActionInput, noSuchAction, putAction, removeAction, replaceAction } from "./service.ts";
import { type ActionRow, listActions } from "./store.ts";

function showTarget(target: OpenTarget, org: OrgAccess): z.output<typeof TargetResponse> {
  const times = { last_success_at: null, last_failure_at: null };
  // Strangers who read a public organization learn nothing about people.
  if (target.type === "EMAIL")
    return { ...target, emails: org.role === undefined ? [] : target.emails, ...times };
  return { ...target, webhook: "", ...times };
}

function showAction(row: ActionRow, org: OrgAccess): z.output<typeof ActionResponse> {
  return {
    ...row,
    targets: row.targets.map((target) => showTarget(target, org)),
    is_created_from_slack_app: false,
    is_failing: false,
    last_success_timestamp: null,
    last_failure_timestamp: null,
  };
}

function showNotification(row: ActionRow, org: OrgAccess): z.output<typeof EnvNotificationsResponse> {
  const { flows: _flows, ...action } = showAction(row, org);
  return action as z.output<typeof EnvNotificationsResponse>;
}

/** The number in the path, which is answered like an unknown one when it is no number at all. */
function readNumber(text: string, org: OrgAccess): number {
  const number = parseActionNumber(text);
  if (number === undefined) throw noSuchAction(text, org.name);
  return number;
}

async function getAction(deps: Deps, org: OrgAccess, text: string, type?: ActionType): Promise<ActionRow> {
  const number = readNumber(text, org);
  const [row] = await listActions(deps.db.query, org.id, type === undefined ? { number } : { number, type });
  if (row === undefined) throw noSuchAction(text, org.name);
  return row;
}

function environmentAction(body: z.output<typeof EnvActionPutInput>): ActionInput {
  return { ...body, subjects: body.environments };
}

function putReply(created: boolean) {
  return { status: created ? 201 : 200, body: "OK" } as const;
}

const done = { status: 200, body: "OK" } as const;

export const actionHandlers: Handlers<typeof actionEndpoints> = {
  list_actions: async (deps, { org }) => ({
    status: 200,
    body: (await listActions(deps.db.query, org.id, {})).map((row) => showAction(row, org)),
  }),
  create_or_update_env_action: async (deps, call) =>
    putReply(await putAction(deps, call, environmentAction(call.body))),
  create_or_update_flow_action: async (deps, call) =>
    putReply(await putAction(deps, call, { ...call.body, subjects: call.body.flows })),
  get_action: async (deps, { org, params }) => ({
    status: 200,
    body: showAction(await getAction(deps, org, params.action_number), org),
  }),
  delete_action: async (deps, call) => {
    await removeAction(deps, call, readNumber(call.params.action_number, call.org));
    return done;
  },
  get_environment_notifications: async (deps, { org }) => ({
    status: 200,
    body: (await listActions(deps.db.query, org.id, { type: "env" })).map((row) =>
      showNotification(row, org),
    ),
  }),
  put_environment_notifications: async (deps, call) =>
    putReply(await putAction(deps, call, environmentAction(call.body))),
  get_environment_notification: async (deps, { org, params }) => ({
    status: 200,
    body: showNotification(await getAction(deps, org, params.notification_number, "env"), org),
  }),
  update_environment_notification: async (deps, call) => {
    const number = readNumber(call.params.notification_number, call.org);
    await replaceAction(deps, call, number, environmentAction(call.body));
    return done;
  },
  delete_environment_notification: async (deps, call) => {
    await removeAction(deps, call, readNumber(call.params.notification_number, call.org), "env");
    return done;
  },
};
