import { z } from "zod";

import { topics } from "../domain/changes.ts";
import { organizationReader } from "./access.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { eventStreamType } from "./event-stream.ts";
import { choiceParameter, listParameter } from "./parameters.ts";

const changesQuery = z.object({
  /** Only of these. */
  topic: listParameter(choiceParameter(topics)),
  /** The id of the last event that arrived, for clients that cannot send the header. */
  last_event_id: z.string().max(64).optional(),
});

const changesHeaders = z.object({ "Last-Event-ID": z.string().optional() });

export const changeFeedEndpoints = {
  stream_changes: endpoint({
    method: "GET",
    path: "/changes/{org}",
    tag: "Changes",
    summary: "Listen to what changes",
    description:
      "Server-sent events, for as long as the client listens: names of what to read again, of things that the caller may read. " +
      'First `ready`. Then `change` with `{"topic", "name", "index"}`: `name` as the thing\'s address has it (`flow/trail` for a trail; null when there are more than are named one by one), ' +
      "`index` the number of a new snapshot, else null. `reset` when it is not known what was missed: read everything again. " +
      "`heartbeat` every 15 seconds. After a break send the last `id` as `Last-Event-ID` or `last_event_id`: what happened meanwhile comes first. Events may come twice. " +
      "The stream ends when the caller may not listen any more. Topics: " +
      `${topics.join(", ")}.`,
    access: organizationReader,
    query: changesQuery,
    headers: changesHeaders,
    responses: { 200: { description: "The events", contentType: eventStreamType } },
  }),
} satisfies Endpoints;
