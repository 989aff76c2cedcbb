import type { FastifyInstance, FastifyRequest } from "fastify";
import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";

import { AppError } from "../domain/errors.ts";
import { equalInConstantTime } from "../lib/hash.ts";
import { wireId } from "../lib/ids.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { isFromThisMachine } from "./client-address.ts";
import { pathOf } from "./path.ts";

function mayRead(request: FastifyRequest, token: string | undefined): boolean {
  const given = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  if (token !== undefined) return given !== undefined && equalInConstantTime(given, token);
  return isFromThisMachine(request);
}

function loggedPath(request: FastifyRequest): string | undefined {
  const { config, url } = request.routeOptions;
  return config.secretPath === true ? url : pathOf(request);
}

let processRegistry: Registry | undefined;

/** Returns the metrics of this process. Their observers and timers never end, so a process has them once, however many servers it has. */
function processMetrics(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}

/** Serves `/metrics` in Prometheus' text format, and writes one log line for each request. */
export function registerMetrics(app: FastifyInstance, deps: Pick<Deps, "config" | "metrics">): void {
  const { registry } = deps.metrics;
  const ofProcess = processMetrics();
  const duration = new Histogram({
    name: "waybill_http_request_duration_seconds",
    help: "Time from the first byte of a request to the last byte of its answer",
    labelNames: ["operation", "method", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const errors = new Counter({
    name: "waybill_http_server_errors_total",
    help: "Answers with a status of 500 and above",
    registers: [registry],
  });

  app.addHook("onResponse", async (request, reply) => {
    const operation = request.routeOptions.config.operationId ?? request.routeOptions.url ?? "none";
    // How long somebody listens says nothing of the server.
    if (request.routeOptions.config.isStream !== true || reply.statusCode !== 200)
      duration.observe(
        { operation, method: request.method, status: reply.statusCode },
        reply.elapsedTime / 1000,
      );
    if (reply.statusCode >= 500) errors.inc();
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
    if (!mayRead(request, deps.config.metricsToken))
      throw new AppError("unauthenticated", "Invalid or missing credentials");
    return reply.type(registry.contentType).send(await Registry.merge([registry, ofProcess]).metrics());
  });
}
