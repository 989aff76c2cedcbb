import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { addFields } from "../lib/log.ts";
import type { Span } from "../lib/tracing/tracing.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { isWaiting } from "./slow-requests.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The request as traces show it; null where there are none, and of what waits for something to happen. */
    span: Span | null;
  }
}

/** Ends the trace of a request, the first time this is called. Of one that nobody waits for any more there may be no status. */
function endTrace(config: Deps["config"], request: FastifyRequest, reply: FastifyReply): void {
  const { span } = request;
  if (span?.isRecorded !== true) return;
  const status = reply.raw.headersSent ? reply.statusCode : undefined;
  span.set({
    "http.request.method": request.method,
    "http.route": request.routeOptions.url,
    "http.response.status_code": status,
    // Names of organizations are given away only where the operator said so.
    "waybill.org": config.metricsByOrg ? request.caller?.org?.name : undefined,
  });
  if (status === undefined) span.fail("cut_off");
  else if (status >= 500) span.fail(String(status));
  span.end();
}

/** Begins the trace of an operation, or goes on with its caller's. From here on its lines in the log say which one it is. */
export function beginTrace(
  { tracing, config }: Pick<Deps, "tracing" | "config">,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { operationId = "none" } = request.routeOptions.config;
  if (tracing === undefined || isWaiting(request)) return;
  const span = tracing.begin(operationId, { kind: "server", parent: request.headers["traceparent"] });
  request.span = span;
  addFields(request.log, { trace_id: span.traceId });
  // The hook below is not called for a client that has gone.
  if (span.isRecorded) reply.raw.once("close", () => endTrace(config, request, reply));
}

/** Ends the traces of requests when they were answered. */
export function registerTraces(app: FastifyInstance, { tracing, config }: Deps): void {
  app.decorateRequest("span", null);
  if (tracing === undefined) return;
  app.addHook("onResponse", async (request, reply) => endTrace(config, request, reply));
}
