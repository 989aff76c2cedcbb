import { randomUUID } from "node:crypto";

import multipart from "@fastify/multipart";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { Logger } from "pino";

import type { Deps } from "../modules/kernel/deps.ts";
import { registerBodyParsers } from "./body.ts";
import { registerClientAddress, trustOf } from "./client-address.ts";
import { registerConnectionLimits } from "./connections.ts";
import { registerDocs } from "./docs.ts";
import { handleError } from "./error-handler.ts";
import { type Health, registerHealth } from "./health.ts";
import { registerIntake } from "./intake.ts";
import { createIntakeMetrics } from "./intake-metrics.ts";
import { registerLargeBodies } from "./large-bodies.ts";
import { registerMetrics } from "./metrics.ts";
import { type Mounted, mountEndpoints } from "./mount.ts";
import { registerNotFound } from "./not-found.ts";
import { registerPageLinks } from "./page-links.ts";
import { registerRateLimits } from "./rate-limit.ts";
import { handleClientError, registerRawAnswers, requireHost } from "./raw-answers.ts";
import { registerSignInProvider } from "./sign-in-provider.ts";
import { cutOffStalledClients } from "./stalled-clients.ts";
import { createPages, registerWebAssets, type WebFiles } from "./web.ts";

/** Room for the largest JSON the contract allows, and its wrapping. */
const bodyLimit = 12 * 1024 * 1024;

/** Finds the path prefix of the public URL, such as `/waybill`; empty when it has none. */
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
  /** The built web app; undefined when there is none to serve. */
  web: WebFiles | undefined;
  /** How many servers answer requests on this database. */
  servers: () => number;
}

/** Serves what people and pipelines ask for. */
async function registerApi(app: FastifyInstance, deps: Deps, parts: ServerParts): Promise<void> {
  registerLargeBodies(app);
  registerBodyParsers(app);
  await app.register(multipart);
  registerWebAssets(app, parts.web);
  registerSignInProvider(app, deps);
  registerDocs(app, {
    endpoints: parts.mounted.endpoints,
    publicUrl: deps.config.publicUrl,
    version: parts.version,
  });
  mountEndpoints(app, deps, parts.mounted, parts.version);
}

/** Builds the HTTP server with everything it serves, which for one that only works on jobs is little; it does not listen yet. */
export async function createServer(deps: Deps, parts: ServerParts): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = parts.log;
  const prefix = prefixOf(deps.config.publicUrl);
  const trust = trustOf(deps.config.trustedProxies);
  const app: FastifyInstance = Fastify({
    loggerInstance,
    bodyLimit,
    ...(deps.config.trustedProxies === undefined ? {} : { trustProxy: trust }),
    // One line a request, written by ourselves when it is done.
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: "idle",
    return503OnClosing: false,
    clientErrorHandler: handleClientError,
    http: {
      // A request without it is answered by ourselves, in JSON.
      requireHostHeader: false,
      headersTimeout: deps.config.intake.headerSeconds * 1000,
      // How bodies get on is looked after by ourselves.
      requestTimeout: 0,
      connectionsCheckingInterval: 1_000,
    },
    rewriteUrl: stripPrefix(prefix),
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
  registerRawAnswers(app.server);
  registerClientAddress(app);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({
      "x-request-id": request.id,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    requireHost(request, reply);
  });
  const intakeMetrics = createIntakeMetrics(deps.metrics.registry);
  registerConnectionLimits(app, { ...deps.config.intake, trust }, intakeMetrics);
  await registerRateLimits(app, { ...deps.config, servers: parts.servers });
  registerNotFound(app, createPages({ files: parts.web, prefix }));
  registerMetrics(app, deps);
  cutOffStalledClients(app.server, deps);
  if (parts.web !== undefined) registerPageLinks(app, deps.config.publicUrl);
  registerIntake(app, deps.config.intake, intakeMetrics);
  registerHealth(app, parts.health);
  if (deps.config.roles.api) await registerApi(app, deps, parts);
  return app;
}
