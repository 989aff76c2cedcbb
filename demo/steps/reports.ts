import type { Endpoint } from "../../src/contract/endpoint.ts";
import { snapshotReportEndpoints } from "../../src/contract/snapshot-reports.ts";
import type { Report } from "../../src/domain/snapshot/report.ts";
import { eachInParallel } from "../../src/lib/parallel.ts";
import { reportOf } from "../model/reports.ts";
import type { SiteReport } from "../model/rollout.ts";
import { concurrency, type Demo } from "../plan.ts";

const endpoints = {
  K8S: snapshotReportEndpoints.k8s_report,
  ECS: snapshotReportEndpoints.ecs_report,
  S3: snapshotReportEndpoints.s3_report,
  lambda: snapshotReportEndpoints.lambda_report,
  server: snapshotReportEndpoints.server_report,
  docker: snapshotReportEndpoints.docker_report,
  "azure-apps": snapshotReportEndpoints.azure_apps_report,
  "cloud-run": snapshotReportEndpoints.cloud_run_report,
} as const satisfies Record<Report["type"], Endpoint>;

async function report(demo: Demo, siteReport: SiteReport): Promise<void> {
  const body = reportOf(siteReport, demo.now);
  await demo.api.call(endpoints[body.type], {
    params: { org: demo.org, env_name: siteReport.site.name },
    body,
  });
}

/** Reports what runs, one round after the other and staging before production, as the sites' reporters do. */
export function reportSites(demo: Demo, title: string, rounds: readonly SiteReport[][]): Promise<void> {
  const total = rounds.reduce((sum, round) => sum + round.length, 0);
  return demo.progress.step(title, total, async (advance) => {
    for (const round of rounds)
      for (const stage of ["staging", "prod"])
        await eachInParallel(
          round.filter(({ site }) => site.stage === stage),
          concurrency,
          async (siteReport) => {
            await report(demo, siteReport);
            advance();
          },
        );
  });
}
