import type { z } from "zod";

import type {
  ActionResponse,
  actionEndpoints,
  EnvActionPutInput,
  EnvNotificationsResponse,
} from "../../../contract/actions.ts";
import type { TargetResponse } from "../../../contract/action-targets.ts";
import { JsonPieces } from "../../../contract/endpoint.ts";
import { readHeavy } from "../../../db/heavy-page.ts";
import { type ActionType, type OpenTarget, parseActionNumber } from "../../../domain/actions.ts";
import type { OrgAccess } from "../../../domain/principal.ts";
import { arrayPieces } from "../../../lib/json-array.ts";
import type { Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type ActionInput, noSuchAction, putAction, removeAction, replaceAction } from "./service.ts";
import { type ActionRow, listActionKeys, listActions, type ShownOutcome } from "./store.ts";

function showTarget(
  target: OpenTarget,
  org: OrgAccess,
  outcome: ShownOutcome | undefined,
): z.output<typeof TargetResponse> {
  const times = {
    last_success_at: outcome?.last_success_at ?? null,
    last_failure_at: outcome?.last_failure_at ?? null,
  };
  // Strangers who read a public organization learn nothing about people.
  if (target.type === "EMAIL")
    return { ...target, emails: org.role === undefined ? [] : target.emails, ...times };
  return { ...target, webhook: "", ...times };
}

/** Finds the latest of some moments; null when there is none. */
function latest(moments: readonly (number | null)[]): number | null {
  const known = moments.filter((moment) => moment !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/** Says whether the last attempt to reach the target failed. */
function isFailing({ last_success_at, last_failure_at }: ShownOutcome): boolean {
  return last_failure_at !== null && (last_success_at === null || last_failure_at > last_success_at);
}

function showAction({ outcomes, ...row }: ActionRow, org: OrgAccess): z.output<typeof ActionResponse> {
  const ofTarget = new Map(outcomes.map((outcome) => [outcome.position, outcome]));
  return {
    ...row,
    targets: row.targets.map((target, position) => showTarget(target, org, ofTarget.get(position))),
    is_created_from_slack_app: false,
    is_failing: outcomes.some(isFailing),
    last_success_timestamp: latest(outcomes.map((outcome) => outcome.last_success_at)),
    last_failure_timestamp: latest(outcomes.map((outcome) => outcome.last_failure_at)),
  };
}

function showNotification(row: ActionRow, org: OrgAccess): z.output<typeof EnvNotificationsResponse> {
  const { flows: _flows, ...action } = showAction(row, org);
  return action as z.output<typeof EnvNotificationsResponse>;
}

/** Reads the number in the path. What is no number at all is answered like an unknown one. */
function readNumber(text: string, org: OrgAccess): number {
  const number = parseActionNumber(text);
  if (number === undefined) throw noSuchAction(text, org.name);
  return number;
}

async function getAction(deps: Deps, org: OrgAccess, text: string, type?: ActionType): Promise<ActionRow> {
  const number = readNumber(text, org);
  const [row] = await listActions(deps.db, org.id, { numbers: [number], type });
  if (row === undefined) throw noSuchAction(text, org.name);
  return row;
}

/** Reads all actions, of one type or of both, some at a time while they are sent. */
async function showActions(
  deps: Deps,
  org: OrgAccess,
  type: ActionType | undefined,
  show: (row: ActionRow, org: OrgAccess) => object,
): Promise<JsonPieces> {
  const keys = await listActionKeys(deps.db, org.id, type);
  async function* items(): AsyncGenerator<string> {
    for await (const rows of readHeavy(deps.db, keys, (numbers) => listActions(deps.db, org.id, { numbers })))
      for (const row of rows) yield JSON.stringify(show(row, org));
  }
  return new JsonPieces(arrayPieces(items()));
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
    body: await showActions(deps, org, undefined, showAction),
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
    body: await showActions(deps, org, "env", showNotification),
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
