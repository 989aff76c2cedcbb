import type { FastifyInstance } from "fastify";
import { Counter, Histogram, Registry } from "prom-client";

import { endpoints } from "../contract/index.ts";
import { wireId } from "../lib/ids.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { requireMetricsToken } from "./authorize-request.ts";
import { loggedPath } from "./logged-path.ts";
import { measureDelays, processMetrics } from "./process-metrics.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Bytes of the files that came with the request. */
    evidenceBytes: number;
  }
}

/** Operations by which pipelines and environments report, and what kind of report each takes. */
const reportKinds: readonly (readonly [RegExp, string])[] = [
  [/^create_artifact$/, "artifact"],
  [/^post_([a-z_]+)_attestation$/, "attestation_$1"],
  [/^([a-z0-9_]+)_report$/, "snapshot_$1"],
];

/** Says what kind of report an operation takes; undefined for one that takes none. */
function reportKind(operation: string): string | undefined {
  const found = reportKinds.find(([pattern]) => pattern.test(operation));
  return found === undefined ? undefined : operation.replace(found[0], found[1]);
}

/** Makes what counts the reports that were taken, shown from the beginning. */
function countReports({
  registry,
  orgs,
}: Deps["metrics"]): (operation: string, org: string | undefined) => void {
  const kinds = new Map(
    Object.keys(endpoints).flatMap((id) => {
      const kind = reportKind(id);
      return kind === undefined ? [] : [[id, kind] as const];
    }),
  );
  const reports = new Counter<"kind" | "org">({
    name: "waybill_reports_total",
    help: "Reports that were taken, by kind",
    labelNames: ["kind", ...orgs.names],
    registers: [registry],
  });
  if (orgs.names.length === 0) for (const kind of kinds.values()) reports.inc({ kind }, 0);
  return (operation, org) => {
    const kind = kinds.get(operation);
    if (kind !== undefined) reports.inc({ kind, ...orgs.of(org) });
  };
}

/** Serves `/metrics` in Prometheus' text format, and writes one log line for each request. */
export function registerMetrics(app: FastifyInstance, deps: Deps): void {
  const { registry, orgs } = deps.metrics;
  const ofProcess = processMetrics();
  measureDelays(app);
  const duration = new Histogram({
    name: "waybill_http_request_duration_seconds",
    help: "Time from the first byte of a request to the last byte of its answer",
    labelNames: ["operation", "method", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const errors = new Counter<"org">({
    name: "waybill_http_server_errors_total",
    help: "Answers with a status of 500 and above",
    labelNames: orgs.names,
    registers: [registry],
  });
  const evidence = new Counter<"org">({
    name: "waybill_evidence_bytes_total",
    help: "Bytes of files that came with reports that were taken",
    labelNames: orgs.names,
    registers: [registry],
  });
  const countReport = countReports(deps.metrics);
  app.decorateRequest("evidenceBytes", 0);

  app.addHook("onResponse", async (request, reply) => {
    const operation = request.routeOptions.config.operationId ?? request.routeOptions.url ?? "none";
    // How long somebody listens says nothing of the server.
    if (request.routeOptions.config.isStream !== true || reply.statusCode !== 200)
      duration.observe(
        { operation, method: request.method, status: reply.statusCode },
        reply.elapsedTime / 1000,
      );
    const org = request.caller?.org?.name;
    if (reply.statusCode >= 500) errors.inc(orgs.of(org));
    if (reply.statusCode < 300) countReport(operation, org);
    if (reply.statusCode < 300 && request.evidenceBytes > 0)
      evidence.inc(orgs.of(org), request.evidenceBytes);
    const { api_key_id: keyId, session_id: sessionId } = request.caller?.principal ?? {};
    request.log.info(
      {
        method: request.method,
        path: loggedPath(request),
        operation,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 100) / 100,
        // As answers and the audit log show it.
        api_key_id: keyId == null ? undefined : wireId(keyId),
        session_id: sessionId == null ? undefined : wireId(sessionId),
      },
      "request",
    );
  });

  app.get("/metrics", async (request, reply) => {
    requireMetricsToken(deps, request);
    return reply.type(registry.contentType).send(await Registry.merge([registry, ofProcess]).metrics());
  });
}
