import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import type { z } from "zod";

import type { BriefBody, Endpoint, Endpoints, Reply, RequestBody } from "../contract/endpoint.ts";
import { exactPlaces } from "../contract/exact.ts";
import { inputErrors, inputErrorsInSteps } from "../contract/input-errors.ts";
import { parseInSteps } from "../contract/parse-in-steps.ts";
import { safeParse } from "../contract/safe-parse.ts";
import { AppError, invalidInput } from "../domain/errors.ts";
import type { Actor } from "../domain/principal.ts";
import { sha256InTurns } from "../lib/hash-in-turns.ts";
import { isLargeJson, isStorable, JsonError, type Places } from "../lib/json.ts";
import { finish, paced } from "../lib/steps.ts";
import { authorize, type Caller } from "../modules/access/service.ts";
import type { KeyUse } from "../modules/access/key-use.ts";
import type { Admission, Call, Gate } from "../modules/call.ts";
import type { Deps } from "../modules/deps.ts";
import { notJson, parseBody } from "./body.ts";
import { briefsOf } from "./brief-bodies.ts";
import { type AnyFile, notJsonField, readMultipart } from "./multipart.ts";
import { type AnswerSender, createSender } from "./send.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
    /** What the gate of the endpoint found out; null where there is none. */
    admission: Admission | null;
  }
  interface FastifyContextConfig {
    operationId?: string;
    /** The path says something that only its callers know. */
    secretPath?: boolean;
  }
}

export const apiPrefix = "/api/v2";

/** A handler as the router sees it; that it fits its endpoint was checked where it was written. */
export type AnyHandler = (deps: Deps, call: never) => Promise<Reply<Endpoint>>;

export interface Mounted {
  endpoints: Endpoints;
  handlers: Record<string, AnyHandler>;
  /** For every endpoint that checks signatures. */
  gates: Record<string, Gate>;
  keyUse: KeyUse;
}

const restPattern = /\{(\w+)\.\.\.\}/;

/** `/repos/{org}/{repo_name...}` as the router writes it: `/repos/:org/*`. */
function routeUrl(path: string): string {
  return apiPrefix + path.replace(restPattern, "*").replace(/\{(\w+)\}/g, ":$1");
}

function pathParams(endpoint: Endpoint, request: FastifyRequest): Record<string, string> {
  const { "*": rest, ...params } = request.params as Record<string, string>;
  const restName = restPattern.exec(endpoint.path)?.[1];
  const named = restName === undefined || rest === undefined ? params : { ...params, [restName]: rest };
  for (const [name, value] of Object.entries(named))
    if (!isStorable(value))
      throw invalidInput({ [`path.${name}`]: "Text must not contain NUL or unpaired surrogates" });
  return named;
}

function parse(schema: z.ZodType | undefined, prefix: string, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const parsed = safeParse(schema, value);
  if (!parsed.success) throw invalidInput(inputErrors(prefix, parsed.error));
  return parsed.data;
}

/** Validates a body: others come in between, if it is large. @throws AppError invalid */
async function validated(spec: RequestBody, value: unknown, isLarge: boolean): Promise<unknown> {
  if (!isLarge) return parse(spec.schema, "", value);
  try {
    const parsed = await paced(parseInSteps(spec.schema, value));
    if (!parsed.success) throw invalidInput(await paced(inputErrorsInSteps("", parsed.error)));
    return parsed.data;
  } catch (error) {
    if (error instanceof JsonError)
      throw spec.kind === "multipart" ? notJsonField(spec.field, error) : notJson(error);
    throw error;
  }
}

interface ReceivedBody {
  value: unknown;
  /** Whether it is so large that others have to come in between while it is validated. */
  isLarge: boolean;
  files: Record<string, AnyFile> | undefined;
  digest: Buffer | null;
  /** Forgets files that nobody wanted to keep. */
  discard?: () => Promise<void>;
}

async function receiveBody(
  deps: Deps,
  spec: RequestBody | undefined,
  request: FastifyRequest,
): Promise<ReceivedBody> {
  if (spec?.kind === "multipart")
    return readMultipart(request, spec, { ...deps, exact: request.routeOptions.config.exact });
  const digest =
    request.rawBody === null ? null : (request.bodyDigest ?? (await sha256InTurns([request.rawBody])));
  const isLarge = spec?.kind === "json" && isLargeJson(request.rawBody);
  return { value: request.body ?? undefined, isLarge, files: undefined, digest };
}

/** A body with what it amounts to, which is remembered with it. */
async function briefBody(
  spec: RequestBody & { kind: "json" },
  request: FastifyRequest,
  value: unknown,
): Promise<BriefBody<unknown, unknown>> {
  const { knownBrief: known, rawBody, bodyDigest } = request;
  const read = (body: unknown): Promise<unknown> => validated(spec, body, isLargeJson(rawBody));
  if (known !== null) return { brief: known.brief, read: async () => read(await parseBody(rawBody!)) };
  const report = await read(value);
  const steps = spec.brief!(report as never);
  const brief = isLargeJson(rawBody) ? await paced(steps) : finish(steps);
  if (bodyDigest !== null) request.routeOptions.config.briefs?.remember(bodyDigest, brief);
  return { brief, read: () => Promise.resolve(report) };
}

/** What the handler gets as the body. One sent where none is asked for carries nothing: clients send `null` there. */
async function bodyOf(
  spec: RequestBody | undefined,
  request: FastifyRequest,
  { value, isLarge }: ReceivedBody,
): Promise<unknown> {
  if (spec?.kind === "json" && spec.brief !== undefined) return briefBody(spec, request, value);
  return spec === undefined ? undefined : validated(spec, value, isLarge);
}

function actorOf(request: FastifyRequest, operationId: string, digest: Buffer | null): Actor {
  const principal = request.caller?.principal;
  return {
    kind: principal?.kind ?? "system",
    id: principal?.id ?? null,
    name: principal?.display_name ?? "anonymous",
    api_key_id: principal?.api_key_id ?? null,
    action: operationId,
    request_id: request.id,
    request_digest: digest,
  };
}

function pathOf(request: FastifyRequest): string {
  return request.url.split("?", 1)[0]!;
}

function exactPlacesOf(body: RequestBody | undefined): Places | undefined {
  return body === undefined ? undefined : exactPlaces(body.schema);
}

function routeHandler(
  deps: Deps,
  mounted: Mounted,
  operationId: string,
  sender: AnswerSender,
): RouteHandlerMethod {
  const endpoint = mounted.endpoints[operationId]!;
  const handler = mounted.handlers[operationId] as (
    deps: Deps,
    call: Call<Endpoint>,
  ) => Promise<Reply<Endpoint>>;
  return async (request, reply) => {
    const named = pathParams(endpoint, request);
    const params = { ...named, ...(parse(endpoint.params, "path", named) as object | undefined) };
    const query = parse(endpoint.query, "query", request.query);
    const received = await receiveBody(deps, endpoint.body, request);
    let answer: Reply<Endpoint>;
    try {
      const body = await bodyOf(endpoint.body, request, received).finally(() => request.bodyIsRead?.());
      const call = {
        params,
        query,
        body,
        files: received.files,
        org: request.caller?.org,
        principal: request.caller?.principal,
        admission: request.admission ?? undefined,
        actor: actorOf(request, operationId, received.digest),
        url: deps.config.publicUrl + request.url,
        path: pathOf(request),
        headers: request.headers,
      } as Call<Endpoint>;
      answer = await handler(deps, call);
    } finally {
      await received.discard?.();
    }
    return sender.send(request, reply, answer, endpoint);
  };
}

/** Seconds after which callers may ask again whether the time is right. */
const timeRetry = "15";

/** @throws AppError unavailable when the endpoint records something and the time is in doubt. */
async function requireRightTime(deps: Deps, endpoint: Endpoint, reply: FastifyReply): Promise<void> {
  if (endpoint.method === "GET" || endpoint.recordsNothing === true) return;
  const why = await deps.time.refusal();
  if (why === undefined) return;
  reply.header("retry-after", timeRetry);
  throw new AppError("unavailable", why, { logged: true });
}

/** Asks the endpoint's gate, if it has one, about everything but the body. */
async function admit(deps: Deps, gate: Gate | undefined, request: FastifyRequest, endpoint: Endpoint) {
  if (gate === undefined) return null;
  const principal = request.caller?.principal;
  return gate(deps, { params: pathParams(endpoint, request), headers: request.headers, principal });
}

/**
 * Turns every endpoint of the contract into a route: authenticate and authorize before the body is read, then parse,
 * call the handler, send. An endpoint whose handler is missing is an error at start.
 */
export function mountEndpoints(app: FastifyInstance, deps: Deps, mounted: Mounted): void {
  app.decorateRequest("caller", null);
  const sender = createSender(deps);
  app.decorateRequest("admission", null);
  for (const [operationId, endpoint] of Object.entries(mounted.endpoints)) {
    if (mounted.handlers[operationId] === undefined) throw new Error(`No handler for ${operationId}`);
    const gate = mounted.gates[operationId];
    if (endpoint.access.kind === "signature" && gate === undefined)
      throw new Error(`No gate for ${operationId}`);
    app.route({
      method: endpoint.method,
      url: routeUrl(endpoint.path),
      ...(endpoint.body?.kind === "raw" ? { bodyLimit: endpoint.body.maxBytes } : {}),
      config: {
        operationId,
        raw: endpoint.body?.kind === "raw",
        briefs: briefsOf(endpoint.body),
        exact: exactPlacesOf(endpoint.body),
        secretPath: endpoint.access.kind === "signature",
      },
      onRequest: async (request, reply) => {
        const params = request.params as { org?: string };
        request.caller = await authorize(deps, {
          authorization: request.headers.authorization,
          access: endpoint.access,
          org: params.org !== undefined && isStorable(params.org) ? params.org : undefined,
          path: pathOf(request),
        });
        if (request.caller.principal !== undefined) mounted.keyUse.used(request.caller.principal.api_key_id);
        request.admission = await admit(deps, gate, request, endpoint);
        await requireRightTime(deps, endpoint, reply);
      },
      handler: routeHandler(deps, mounted, operationId, sender),
    });
  }
}
