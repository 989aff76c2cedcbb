import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";

import multipart from "@fastify/multipart";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { Logger } from "pino";

import type { Deps } from "../modules/deps.ts";
import { registerBodyParsers } from "./body.ts";
import { registerDocs } from "./docs.ts";
import { handleError } from "./error-handler.ts";
import { type Health, registerHealth } from "./health.ts";
import { registerMetrics } from "./metrics.ts";
import { type Mounted, mountEndpoints } from "./mount.ts";
import { registerNotFound } from "./not-found.ts";
import { registerRateLimits } from "./rate-limit.ts";

/** Room for the largest JSON the contract allows, and its wrapping. */
const bodyLimit = 12 * 1024 * 1024;

const clientErrors: Record<string, [status: string, message: string]> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "Request headers are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "Request was not complete in time"],
};

/** Answers what is not HTTP enough to become a request. */
function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, message] = clientErrors[error.code ?? ""] ?? [
    "400 Bad Request",
    "Request is not valid HTTP",
  ];
  const body = JSON.stringify({ message });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** The path prefix of the public URL, such as `/waybill`; empty when it has none. */
function prefixOf(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/+$/, "");
}

/** Requests may name the whole URL (RFC 9112 section 3.2.2); links in answers are made from its path. */
const absoluteForm = /^https?:\/\/[^/?#]*/i;

function stripPrefix(prefix: string): (request: { url?: string | undefined }) => string {
  return (request) => {
    const path = (request.url ?? "/").replace(absoluteForm, "");
    const url = path === "" || path.startsWith("?") ? `/${path}` : path;
    return prefix !== "" && url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url;
  };
}

const requestIdPattern = /^[\w.-]{1,64}$/;

export interface ServerParts {
  log: Logger;
  mounted: Mounted;
  health: Health;
  /** Version of the program. */
  version: string;
}

/** Builds the HTTP server with everything it serves; it does not listen yet. */
export async function createServer(deps: Deps, parts: ServerParts): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = parts.log;
  const app: FastifyInstance = Fastify({
    loggerInstance,
    bodyLimit,
    // One line a request, written by ourselves when it is done.
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: "idle",
    return503OnClosing: false,
    requestTimeout: 120_000,
    clientErrorHandler: handleClientError,
    rewriteUrl: stripPrefix(prefixOf(deps.config.publicUrl)),
    genReqId: (request) => {
      const given = request.headers["x-request-id"];
      return typeof given === "string" && requestIdPattern.test(given) ? given : randomUUID();
    },
    routerOptions: {
      maxParamLength: 20_000,
      ignoreDuplicateSlashes: true,
      ignoreTrailingSlash: true,
    },
    frameworkErrors: (error, request, reply) => void handleError(error, request, reply),
  });
  app.setErrorHandler(handleError);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({
      "x-request-id": request.id,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
  });
  await registerRateLimits(app, deps.config);
  registerMetrics(app, deps);
  registerBodyParsers(app);
  await app.register(multipart);
  registerHealth(app, parts.health);
  registerDocs(app, {
    endpoints: parts.mounted.endpoints,
    publicUrl: deps.config.publicUrl,
    version: parts.version,
  });
  mountEndpoints(app, deps, parts.mounted);
  registerNotFound(app, parts.mounted.endpoints);
  return app;
}
