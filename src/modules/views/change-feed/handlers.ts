import { actionEndpoints } from "../../../contract/actions.ts";
import { allowlistEndpoints } from "../../../contract/allowlists.ts";
import { artifactReadEndpoints } from "../../../contract/artifact-reads.ts";
import { attestationTypeEndpoints } from "../../../contract/attestation-types.ts";
import type { changeFeedEndpoints } from "../../../contract/change-feed.ts";
import { controlEndpoints } from "../../../contract/controls.ts";
import type { Endpoint } from "../../../contract/endpoint.ts";
import { environmentEndpoints } from "../../../contract/environments.ts";
import { type EventSink, EventStream, type ServerEvent } from "../../../contract/event-stream.ts";
import { flowEndpoints } from "../../../contract/flows.ts";
import { memberEndpoints } from "../../../contract/members.ts";
import { notificationEndpoints } from "../../../contract/notifications.ts";
import { organizationEndpoints } from "../../../contract/organizations.ts";
import { policyEndpoints } from "../../../contract/policies.ts";
import { qualityEndpoints } from "../../../contract/quality.ts";
import { repoEndpoints } from "../../../contract/repos.ts";
import { serviceAccountEndpoints } from "../../../contract/service-accounts.ts";
import { spaceEndpoints } from "../../../contract/spaces.ts";
import { trailEndpoints } from "../../../contract/trails.ts";
import {
  type Change,
  parsePosition,
  type Position,
  positionText,
  type Topic,
  topics,
} from "../../../domain/changes.ts";
import type { OrgAccess } from "../../../domain/principal.ts";
import { mayCall } from "../../kernel/access/service.ts";
import type { Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { listenToChanges } from "./feed-service.ts";

/** The operation that shows what a topic is about: who may not call it is not told either. */
const shownBy: Record<Topic, Endpoint> = {
  environment: environmentEndpoints.get_environment,
  flow: flowEndpoints.get_flow,
  trail: trailEndpoints.get_trail,
  artifact: artifactReadEndpoints.get_artifact_by_fingerprint,
  policy: policyEndpoints.get_policy,
  control: controlEndpoints.get_control,
  attestation_type: attestationTypeEndpoints.get_custom_attestation_type,
  repo: repoEndpoints.get_repo,
  allow_list: allowlistEndpoints.list_allowlist,
  action: actionEndpoints.get_action,
  delivery: notificationEndpoints.list_notification_deliveries,
  integration: qualityEndpoints.list_integrations,
  space: spaceEndpoints.list_spaces,
  member: memberEndpoints.list_members,
  service_account: serviceAccountEndpoints.get_service_account,
  organization: organizationEndpoints.get_organization,
};

/** What of the topics that somebody asks for they may read. */
function topicsFor(org: OrgAccess, asked: readonly Topic[] = topics): ReadonlySet<Topic> {
  return new Set(asked.filter((topic) => mayCall(shownBy[topic].access, org)));
}

/** Writes changes as events. The last one says how far they go, so that after a break all of them come again or none. */
function eventsOf(changes: readonly Change[], position: Position): ServerEvent[] {
  const id = positionText(position);
  return changes.map((data, nth) => ({
    name: "change",
    data,
    ...(nth === changes.length - 1 ? { id } : {}),
  }));
}

interface Listening {
  org: OrgAccess;
  asked: readonly Topic[] | undefined;
  /** The id of the last event that arrived before. */
  last: string | undefined;
}

async function tell(deps: Deps, sink: EventSink, { org, asked, last }: Listening) {
  const told = topicsFor(org, asked);
  let at = "";
  const reset = (position: string): void => sink.tell([{ name: "reset", data: {}, id: position }]);
  const listener = {
    changed: (changes: readonly Change[], position: Position) => {
      at = positionText(position);
      sink.tell(
        eventsOf(
          changes.filter(({ topic }) => told.has(topic)),
          position,
        ),
      );
    },
    reset: (position: Position) => {
      at = positionText(position);
      reset(at);
    },
  };
  const from = last === undefined ? undefined : parsePosition(last);
  const close = await listenToChanges(deps, org.id, listener, from);
  // It is not ours, so nobody knows what was missed since.
  if (last !== undefined && from === undefined) reset(at);
  sink.tell([{ name: "ready", data: {}, id: at }]);
  return { position: () => at, close };
}

export const changeFeedHandlers: Handlers<typeof changeFeedEndpoints> = {
  stream_changes: async (deps, { org, query, headers }) => {
    const header = headers["last-event-id"];
    const last = (Array.isArray(header) ? header[0] : header) ?? query.last_event_id;
    const listening = { org, asked: query.topic, last: last === "" ? undefined : last };
    return { status: 200, body: new EventStream((sink) => tell(deps, sink, listening)) };
  },
};
