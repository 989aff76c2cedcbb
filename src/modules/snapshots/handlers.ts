import type { environmentEventEndpoints } from "../../contract/environment-events.ts";
import type { snapshotReportEndpoints } from "../../contract/snapshot-reports.ts";
import type { snapshotEndpoints } from "../../contract/snapshots.ts";
import type { Actor, OrgAccess } from "../../domain/principal.ts";
import { pageHeaders } from "../../lib/links.ts";
import type { Handlers } from "../call.ts";
import type { Deps } from "../deps.ts";
import { openAuditlog } from "./auditlog-service.ts";
import { compareSnapshots } from "./diff-service.ts";
import { readEvents } from "./event-service.ts";
import { readSnapshot, readSnapshots } from "./read-service.ts";
import { type ReceivedReport, reportSnapshot } from "./report-service.ts";

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
  typeof snapshotReportEndpoints & typeof snapshotEndpoints & typeof environmentEventEndpoints
> = {
  k8s_report: report,
  ecs_report: report,
  s3_report: report,
  lambda_report: report,
  server_report: report,
  docker_report: report,
  azure_apps_report: report,
  cloud_run_report: report,

  list_snapshots: async (deps, { org, params, query }) => ({
    status: 200,
    body: await readSnapshots(deps, org, params.env_name, query),
  }),
  get_snapshot: async (deps, { org, params, query }) => ({
    status: 200,
    body: await readSnapshot(deps, org, {
      environment: params.env_name,
      expression: params.snapshot_expression,
      rules: query.rules,
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
};
