import { z } from "zod";

import { environmentTypes } from "../domain/environments.ts";
import { longestEventWindow } from "../domain/snapshot/event-window.ts";
import { eventKinds } from "../domain/snapshot/annotate.ts";
import { daySeconds } from "../lib/units.ts";
import { organizationReader } from "./access.ts";
import { json } from "./common.ts";
import { time, withCsv } from "./csv.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { EnvironmentEvent } from "./environment-events.ts";
import { PaginationInfo } from "./pagination.ts";
import {
  choiceParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
  timestampParameter,
} from "./parameters.ts";

const EventKinds = z.object({ started: z.int(), exited: z.int(), changed: z.int(), verdict: z.int() });

/** How many events there are in the whole window. */
const EventCounts = z
  .object({
    /** Whatever `kind` asks for; the other filters count. */
    by_kind: EventKinds,
    /** The 50 with the most events, these first. */
    by_environment: z.array(z.object({ environment_name: z.string(), count: z.int() })),
  })
  .meta({ id: "EventCounts" });

/** A page of the events of all environments. */
const EventPage = z
  .object({ data: z.array(EnvironmentEvent), pagination: PaginationInfo, counts: EventCounts })
  .meta({ id: "EventPage" });

/** Query that chooses events. */
const EventQuery = z.object({
  start_ts: timestampParameter().optional(),
  end_ts: timestampParameter().optional(),
  environment: listParameter(textParameter()),
  tag: listParameter(textParameter()),
  type: listParameter(choiceParameter(environmentTypes)),
  flow: listParameter(textParameter()),
  repo: listParameter(textParameter()),
  kind: listParameter(choiceParameter(eventKinds)),
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).default(15),
});

export const eventEndpoints = {
  list_events: endpoint({
    method: "GET",
    path: "/events/{org}",
    tag: "Environments",
    summary: "List what changed in all environments",
    description:
      "Newest first, from `start_ts` to `end_ts`, both included: the last 24 hours unless said otherwise, at most " +
      `${longestEventWindow / daySeconds} days. Logical environments repeat what their members tell and are left out, unless ` +
      "`environment` or `type` names them. `environment`, `tag` (`key` or `key:value`), `type`, `flow`, `repo` and `kind` may be " +
      "repeated: any of the values will do; names that nothing has find nothing. Flow and repo are those that built the artifact: " +
      "the first of its `flows`. Of the kinds, `verdict` is an artifact that became compliant or non-compliant, `changed` is whatever is none " +
      "of the others.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: EventQuery,
    responses: {
      200: withCsv(json("A page of events, and how many there are", EventPage), "events", [
        time("reported_at"),
        "environment_name",
        "snapshot_index",
        "type",
        "artifact_name",
        "sha256",
        "description",
        "pipeline",
        "flows.flow_name",
        "artifact_compliance",
        "snapshot_compliance",
        "code_diff",
        "_links.snapshot.html",
      ]),
    },
  }),
} satisfies Endpoints;
