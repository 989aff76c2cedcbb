import { z } from "zod";

import { actionLimits, environmentTriggers, flowTriggers } from "../domain/actions.ts";
import { actionNamePattern } from "../domain/names.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { ActionTargets, TargetResponse } from "./action-targets.ts";
import { indexedText, json, nameText, Ok, okResponse, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { hidingInput } from "./hidden-input.ts";
import { distinctList } from "./lists.ts";

const subjects = distinctList(indexedText(), { min: 1, max: actionLimits.subjects });

/**
 * Fields that error texts may quote: all but those that may hold a webhook address, in the right place or a wrong one.
 */
const quotable = [
  "name",
  "type",
  "environments",
  "flows",
  "triggers",
  "payload_version",
  "emails",
  "context",
];

/** Body of an environment action. Environments are given by name, current or former. */
export const EnvActionPutInput = hidingInput(
  z
    .strictObject({
      name: nameText(actionNamePattern),
      targets: ActionTargets,
      type: z.literal("env").default("env"),
      environments: subjects,
      triggers: distinctList(z.enum(environmentTriggers), { min: 1, max: environmentTriggers.length }),
    })
    .meta({ id: "EnvActionPutInput" }),
  quotable,
);

/** Body of a flow action. Flows are given by name, current or former. */
const FlowActionPutInput = hidingInput(
  z
    .strictObject({
      name: nameText(actionNamePattern),
      targets: ActionTargets,
      type: z.literal("flow").default("flow"),
      flows: subjects,
      triggers: distinctList(z.enum(flowTriggers), { min: 1, max: flowTriggers.length }),
    })
    .meta({ id: "FlowActionPutInput" }),
  quotable,
);

const shownAction = {
  name: z.string(),
  number: z.int(),
  targets: z.array(TargetResponse),
  created_by: z.string(),
  /** Always false: the Slack app is not part of this server. */
  is_created_from_slack_app: z.boolean(),
  is_failing: z.boolean().nullable(),
  /** The addresses of its webhooks are gone, because the installation was restored without its secret key: give them again. */
  addresses_forgotten: z.boolean(),
  last_success_timestamp: Timestamp.nullable(),
  last_failure_timestamp: Timestamp.nullable(),
  created_at: Timestamp.nullable(),
  last_modified_at: Timestamp,
};

/** An action of either type. */
export const ActionResponse = z
  .object({
    ...shownAction,
    type: z.enum(["env", "flow"]),
    triggers: z.array(z.string()),
    /** Null for environment actions. */
    flows: z.array(z.string()).nullable(),
    /** Null for flow actions. */
    environments: z.array(z.string()).nullable(),
  })
  .meta({ id: "ActionResponse" });

/** An environment action. */
export const EnvNotificationsResponse = z
  .object({
    ...shownAction,
    type: z.literal("env"),
    triggers: z.array(z.enum(environmentTriggers)),
    environments: z.array(z.string()),
  })
  .meta({ id: "EnvNotificationsResponse" });

const putSemantics =
  "Makes a new action, also under a name that is taken, unless the newest action of that name is the very same: " +
  "then nothing happens, so the request can be repeated.";

const putResponses = {
  200: { description: "The newest action of this name is the same already", schema: Ok },
  201: { description: "Created", schema: Ok },
} as const;

/** An action's number in a path, read as text: what is no number is an unknown action. */
export const actionNumber = z.string().meta({ type: "integer" });

const notifications = "/organizations/{org}/environments_notifications";

export const actionEndpoints = {
  list_actions: endpoint({
    method: "GET",
    path: "/actions/{org}",
    tag: "Actions",
    summary: "List all actions, newest first",
    access: organizationReader,
    responses: { 200: json("The actions", z.array(ActionResponse)) },
  }),
  create_or_update_env_action: endpoint({
    method: "PUT",
    path: "/actions/{org}/environments",
    tag: "Actions",
    summary: "Create an environment action",
    description: putSemantics,
    access: organizationRole("member"),
    body: { kind: "json", schema: EnvActionPutInput },
    responses: putResponses,
  }),
  create_or_update_flow_action: endpoint({
    method: "PUT",
    path: "/actions/{org}/flows",
    tag: "Actions",
    summary: "Create a flow action",
    description: putSemantics,
    access: organizationRole("member"),
    body: { kind: "json", schema: FlowActionPutInput },
    responses: putResponses,
  }),
  get_action: endpoint({
    method: "GET",
    path: "/actions/{org}/{action_number}",
    tag: "Actions",
    summary: "Get an action",
    access: organizationReader,
    params: z.object({ action_number: actionNumber }),
    responses: { 200: json("The action", ActionResponse) },
  }),
  delete_action: endpoint({
    method: "DELETE",
    path: "/actions/{org}/{action_number}",
    tag: "Actions",
    summary: "Delete an action",
    access: organizationRole("member"),
    params: z.object({ action_number: actionNumber }),
    responses: { 200: okResponse },
  }),
  get_environment_notifications: endpoint({
    method: "GET",
    path: notifications,
    tag: "Organizations",
    summary: "List all environment actions, newest first",
    access: organizationReader,
    responses: { 200: json("The environment actions", z.array(EnvNotificationsResponse)) },
  }),
  put_environment_notifications: endpoint({
    method: "PUT",
    path: notifications,
    tag: "Organizations",
    summary: "Create an environment action",
    description: putSemantics,
    access: organizationRole("member"),
    body: { kind: "json", schema: EnvActionPutInput },
    responses: putResponses,
  }),
  get_environment_notification: endpoint({
    method: "GET",
    path: `${notifications}/{notification_number}`,
    tag: "Organizations",
    summary: "Get an environment action",
    access: organizationReader,
    params: z.object({ notification_number: actionNumber }),
    responses: { 200: json("The environment action", EnvNotificationsResponse) },
  }),
  update_environment_notification: endpoint({
    method: "PUT",
    path: `${notifications}/{notification_number}`,
    tag: "Organizations",
    summary: "Replace an environment action",
    description:
      "The number stays. An empty `webhook`, which is what reads show, keeps the address of the target of the " +
      "same type in the same place.",
    access: organizationRole("member"),
    params: z.object({ notification_number: actionNumber }),
    body: { kind: "json", schema: EnvActionPutInput },
    responses: { 200: okResponse },
  }),
  delete_environment_notification: endpoint({
    method: "DELETE",
    path: `${notifications}/{notification_number}`,
    tag: "Organizations",
    summary: "Delete an environment action",
    access: organizationRole("member"),
    params: z.object({ notification_number: actionNumber }),
    responses: { 200: okResponse },
  }),
} satisfies Endpoints;
