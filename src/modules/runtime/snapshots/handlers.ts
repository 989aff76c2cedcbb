import type { environmentEventEndpoints } from "../../../contract/environment-events.ts";
import type { eventEndpoints } from "../../../contract/events.ts";
import type { snapshotReportEndpoints } from "../../../contract/snapshot-reports.ts";
import type { snapshotEndpoints } from "../../../contract/snapshots.ts";
import type { Actor, OrgAccess } from "../../../domain/principal.ts";
import { pageHeaders } from "../../../lib/links.ts";
import type { CsvHandlers, Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { listEventsForCsv, readAllEvents } from "./history/all-events-service.ts";
import { openAuditlog } from "./history/auditlog-service.ts";
import { readEvents } from "./history/event-service.ts";
import { compareSnapshots } from "./read/diff-service.ts";
import { readSnapshots } from "./read/list-service.ts";
import { readSnapshot } from "./read/service.ts";
import { type ReceivedReport, reportSnapshot } from "./report/service.ts";

/** A request with a report of any kind. */
interface ReportCall {
  org: OrgAccess;
  actor: Actor;
  params: { env_name: string };
  body: ReceivedReport;
}

async function report(deps: Deps, call: ReportCall) {
  const created = await reportSnapshot(deps, call, call.params.env_name, call.body);
  return { status: created ? 201 : 200, body: "OK" } as const;
}

export const snapshotHandlers: Handlers<
  typeof snapshotReportEndpoints &
    typeof snapshotEndpoints &
    typeof environmentEventEndpoints &
    typeof eventEndpoints
> = {
  k8s_report: report,
  ecs_report: report,
  s3_report: report,
  lambda_report: report,
  server_report: report,
  docker_report: report,
  azure_apps_report: report,
  cloud_run_report: report,

  list_snapshots: async (deps, { org, params, query, url }) => {
    const { total, snapshots } = await readSnapshots(deps, org, params.env_name, query);
    const { start_ts, end_ts, include } = query;
    // Without any of these the answer has been without headers of its own for as long as it has had clients.
    const isNew = [start_ts, end_ts, include].some((parameter) => parameter !== undefined);
    return { status: 200, body: snapshots, ...(isNew && { headers: pageHeaders(url, query, total) }) };
  },
  get_snapshot: async (deps, { org, params, query }) => ({
    status: 200,
    body: await readSnapshot(deps, org, {
      environment: params.env_name,
      expression: params.snapshot_expression,
      rules: query.rules,
      most: query.max_artifacts,
    }),
  }),

  environment_diff: async (deps, { org, query }) => ({
    status: 200,
    body: await compareSnapshots(deps, org, query),
  }),
  get_env_events: async (deps, { org, params, query, url }) => {
    const { total, events } = await readEvents(deps, org, params.env_name, query);
    return { status: 200, body: events, headers: pageHeaders(url, query, total) };
  },
  get_env_auditlog: async (deps, { org, params, query }) => ({
    status: 200,
    ...(await openAuditlog(deps, org, params.env_name, query)),
  }),
  list_events: async (deps, { org, query }) => ({
    status: 200,
    body: await readAllEvents(deps, org, query),
  }),
};

export const eventCsv: CsvHandlers<typeof eventEndpoints> = {
  list_events: (deps, { org, query }) => listEventsForCsv(deps, org, query),
};
