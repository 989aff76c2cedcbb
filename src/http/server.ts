import { randomUUID } from "node:crypto";
import { isIP } from "node:net";

import multipart from "@fastify/multipart";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from "fastify";
import type { Logger } from "pino";

import type { Config } from "../config.ts";
import { takeUp } from "../config-reload.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { registerBodyParsers } from "./body.ts";
import { currentTrust, type ProxyTrust, registerClientAddress } from "./client-address.ts";
import { registerConnectionLimits } from "./connections.ts";
import { registerDocs } from "./docs.ts";
import { registerDraining } from "./draining.ts";
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
import { registerSlowRequests } from "./slow-requests.ts";
import { cutOffStalledClients } from "./stalled-clients.ts";
import { Certificate } from "./tls.ts";
import { registerTraces } from "./traces.ts";
import { createPages, registerWebAssets, type WebFiles } from "./web.ts";

/** Room for the largest JSON the contract allows, and its wrapping. */
const bodyLimit = 12 * 1024 * 1024;

/** Finds the path prefix of the public URL, such as `/waybill`; empty when it has none. */
function prefixOf(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/+$/, "");
}

/** Makes the header that has browsers come by TLS alone for a year (RFC 6797): not for names that many programs of a machine share. */
function strictTransportOf(publicUrl: string): Record<string, string> {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== "https:" || hostname === "localhost" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0)
    return {};
  return { "strict-transport-security": "max-age=31536000" };
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

declare module "fastify" {
  interface FastifyInstance {
    /**
     * Prepares to take up a configuration while the server runs, as far as that can be.
     * @returns what does it, and cannot fail.
     * @throws CertificateError when its certificate cannot be used.
     */
    reload: (next: Config) => Promise<() => void>;
  }
}

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

/** Makes the bare server, which speaks TLS where there is a certificate. */
function createBareServer(
  config: Config,
  { log, trust, certificate }: { log: Logger; trust: ProxyTrust; certificate: Certificate | undefined },
): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = log;
  const protocol = {
    // A request without it is answered by ourselves, in JSON.
    requireHostHeader: false,
    headersTimeout: config.intake.headerSeconds * 1000,
    // How bodies get on is looked after by ourselves.
    requestTimeout: 0,
    connectionsCheckingInterval: 1_000,
  };
  const handshakeTimeout = protocol.headersTimeout;
  return Fastify({
    ...(certificate === undefined
      ? { http: protocol }
      : { https: { ...protocol, ...certificate.options, handshakeTimeout } }),
    loggerInstance,
    bodyLimit,
    trustProxy: trust,
    // One line a request, written by ourselves when it is done.
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: "idle",
    return503OnClosing: false,
    clientErrorHandler: handleClientError,
    rewriteUrl: stripPrefix(prefixOf(config.publicUrl)),
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
  } as FastifyServerOptions);
}

/** Makes the server take up another configuration while it runs. */
function registerReload(app: FastifyInstance, config: Config, certificate: Certificate | undefined): void {
  certificate?.attach(app);
  app.decorate("reload", async (next) => {
    const useCertificate = next.tls === undefined ? undefined : await certificate?.prepare(next.tls);
    return () => {
      useCertificate?.();
      takeUp(config, next);
    };
  });
}

/** Builds the HTTP server with everything it serves, which for one that only works on jobs is little; it does not listen yet. */
export async function createServer(deps: Deps, parts: ServerParts): Promise<FastifyInstance> {
  const { tls, publicUrl } = deps.config;
  const strictTransport = strictTransportOf(publicUrl);
  const trust = currentTrust(deps.config);
  const certificate = tls === undefined ? undefined : await Certificate.open(deps, tls);
  const app = createBareServer(deps.config, { log: parts.log, trust, certificate });
  registerReload(app, deps.config, certificate);
  app.setErrorHandler(handleError);
  registerRawAnswers(app.server);
  registerClientAddress(app);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({
      "x-request-id": request.id,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      ...strictTransport,
    });
    requireHost(request, reply);
  });
  const intakeMetrics = createIntakeMetrics(deps.metrics.registry);
  registerConnectionLimits(app, { limits: deps.config.intake, trust }, intakeMetrics);
  registerDraining(app);
  await registerRateLimits(app, deps.config, parts.servers, deps.metrics);
  registerNotFound(app, createPages({ files: parts.web, prefix: prefixOf(publicUrl) }));
  registerMetrics(app, deps);
  registerSlowRequests(app, deps);
  registerTraces(app, deps);
  cutOffStalledClients(app.server, deps);
  if (parts.web !== undefined) registerPageLinks(app, deps.config.publicUrl);
  registerIntake(app, deps.config.intake, intakeMetrics);
  registerHealth(app, deps, parts.health);
  if (deps.config.roles.api) await registerApi(app, deps, parts);
  return app;
}
