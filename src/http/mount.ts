import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";

import type { CsvForm, CsvRows } from "../contract/csv.ts";
import {
  type Endpoint,
  type Endpoints,
  needsRecentSignIn,
  type Reply,
  type RequestBody,
  type SummarizedBody,
} from "../contract/endpoint.ts";
import { eventStreamType } from "../contract/event-stream.ts";
import { exactPlaces } from "../contract/exact.ts";
import { inputErrorsInSteps } from "../contract/input-errors.ts";
import { parseInSteps } from "../contract/parse-in-steps.ts";
import { AppError, invalidInput } from "../domain/errors.ts";
import { comesFromSite, readCookie, type Site, siteOf } from "../domain/sessions.ts";
import { sha256InTurns } from "../lib/hash-in-turns.ts";
import { isLargeJson, isStorable, JsonError, type Places } from "../lib/json.ts";
import { finish, paced, type Steps } from "../lib/steps.ts";
import { type Attempt, authorize, type Caller } from "../modules/kernel/access/service.ts";
import type { KeyUse } from "../modules/kernel/access/use-service.ts";
import type { Admission, Call, Gate, KeptCall, Peer } from "../modules/kernel/call.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { notJson, parseBody } from "./body.ts";
import { summariesOf } from "./body-summaries.ts";
import { isFromThisMachine } from "./client-address.ts";
import { csvHeaders, csvPieces, prefersCsv } from "./csv.ts";
import { authorizeRequest } from "./authorize-request.ts";
import { inputOf, parse, pathParams, restPattern } from "./input.ts";
import { AnswerKeeper } from "./keep.ts";
import { KeptAnswer, KeptAnswers, showKeptAnswers } from "./kept-answers.ts";
import { type AnyFile, notJsonField, readMultipart } from "./multipart.ts";
import { pathOf } from "./path.ts";
import { createSource, type Source } from "./replica-reads.ts";
import { type AnswerSender, createSender } from "./send.ts";
import { actorOf, refusalTo } from "./actor.ts";
import { beginWork, depsOf } from "./slow-requests.ts";
import { mayUseKeys } from "./tls.ts";
import { beginTrace } from "./traces.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
    /** Finds out once more who calls, for what takes long. @throws AppError when they may not call any more. */
    authorizeAgain: (() => Promise<Caller>) | null;
    /** What the gate of the endpoint found out; null where there is none. */
    admission: Admission | null;
    /** Has it found out anew who calls, and what the gate says, where that was too long ago. @throws AppError when they may not call any more. */
    requireStill: (() => Promise<void>) | null;
  }
  interface FastifyContextConfig {
    operationId?: string;
    /** Answered for as long as the client listens. */
    isStream?: boolean;
  }
}

export const apiPrefix = "/api/v2";

/** A handler as the router sees it; that it fits its endpoint was checked where it was written. */
export type AnyHandler = (deps: Deps, call: never) => Promise<Reply<Endpoint>>;

/** The same of a handler that finds the rows for CSV. */
type AnyCsvHandler = (deps: Deps, call: never) => Promise<CsvRows>;

export interface Mounted {
  endpoints: Endpoints;
  handlers: Record<string, AnyHandler>;
  /** For every endpoint whose list can be had as CSV. */
  csv: Record<string, AnyCsvHandler>;
  /** For every endpoint that checks signatures. */
  gates: Record<string, Gate>;
  keyUse: KeyUse;
}

/** Writes a path as the router has it: `/repos/{org}/{repo_name...}` is `/repos/:org/*`. */
export function routeUrl(path: string): string {
  return apiPrefix + path.replace(restPattern, "*").replace(/\{(\w+)\}/g, ":$1");
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
  /** How much there is of it, without files. */
  bytes: number;
  /** Forgets files that nobody wanted to keep. */
  discard?: () => Promise<void>;
}

async function receiveBody(
  deps: Deps,
  spec: RequestBody | undefined,
  request: FastifyRequest,
): Promise<ReceivedBody> {
  if (spec?.kind === "multipart") {
    const received = await readMultipart(request, spec, {
      ...depsOf(deps, request),
      exact: request.routeOptions.config.exact,
    });
    const evidence = Object.values(received.files).filter((file) => "size" in file);
    request.evidenceBytes = evidence.reduce((sum, { size }) => sum + size, 0);
    return received;
  }
  const digest =
    request.rawBody === null ? null : (request.bodyDigest ?? (await sha256InTurns([request.rawBody])));
  const isLarge = spec?.kind === "json" && isLargeJson(request.rawBody);
  const bytes = request.rawBody?.length ?? 0;
  return { value: request.body ?? undefined, isLarge, files: undefined, digest, bytes };
}

/** Receives all of a request. Where that fails, its body is in nobody's way any more. */
async function receive(deps: Deps, endpoint: Endpoint, request: FastifyRequest) {
  try {
    const { params, query } = inputOf(endpoint, request);
    return { params, query, received: await receiveBody(deps, endpoint.body, request) };
  } catch (error) {
    request.bodyIsRead?.();
    throw error;
  }
}

/** Parses the body, or reuses what the same bytes gave before. */
async function summarizedBody(
  spec: RequestBody,
  summarize: (value: never) => Steps<unknown>,
  request: FastifyRequest,
  value: unknown,
): Promise<SummarizedBody<unknown, unknown>> {
  const { knownSummary: known, rawBody, bodyDigest } = request;
  const read = (body: unknown): Promise<unknown> => validated(spec, body, isLargeJson(rawBody));
  if (known !== null && rawBody !== null)
    return { summary: known.summary, read: async () => read(await parseBody(rawBody)) };
  const report = await read(value);
  const steps = summarize(report as never);
  const summary = isLargeJson(rawBody) ? await paced(steps) : finish(steps);
  if (bodyDigest !== null) request.routeOptions.config.summaries?.remember(bodyDigest, summary);
  return { summary, read: () => Promise.resolve(report) };
}

/** Reads what the handler gets as the body. One sent where none is asked for carries nothing: clients send `null` there. */
async function bodyOf(
  spec: RequestBody | undefined,
  request: FastifyRequest,
  { value, isLarge }: ReceivedBody,
): Promise<unknown> {
  if (spec?.kind === "json" && spec.summarize !== undefined)
    return summarizedBody(spec, spec.summarize, request, value);
  return spec === undefined ? undefined : validated(spec, value, isLarge);
}

/** Reads the same, of a caller who may still send it when it is there. @throws AppError also where they may not. */
async function bodyInTime(
  spec: RequestBody | undefined,
  request: FastifyRequest,
  received: ReceivedBody,
): Promise<unknown> {
  const body = await bodyOf(spec, request, received).finally(() => request.bodyIsRead?.());
  await request.requireStill?.();
  return body;
}

/** Says who sent the request. */
function peerOf(deps: Pick<Deps, "config">, request: FastifyRequest): Peer {
  return {
    address: request.clientAddress,
    isThisMachine: isFromThisMachine(request),
    mayUseKeys: mayUseKeys(deps, request),
  };
}

function exactPlacesOf(body: RequestBody | undefined): Places | undefined {
  return body === undefined ? undefined : exactPlaces(body.schema);
}

/** How an endpoint answers CSV. */
interface CsvAnswer {
  form: CsvForm;
  rows: (deps: Deps, call: Call<Endpoint>) => Promise<CsvRows>;
}

/** Finds how an endpoint answers CSV; undefined when it does not. @throws Error when its handler is missing. */
function csvAnswerOf(mounted: Mounted, operationId: string, endpoint: Endpoint): CsvAnswer | undefined {
  const form = endpoint.responses[200]?.csv;
  if (form === undefined) return undefined;
  const rows = mounted.csv[operationId];
  if (rows === undefined) throw new Error(`No handler for the CSV of ${operationId}`);
  return { form, rows: rows as CsvAnswer["rows"] };
}

/** Makes what the handler of a kept answer is told: nothing about who asks. */
function keptCall(deps: Deps, endpoint: Endpoint, request: FastifyRequest): KeptCall<Endpoint> {
  return {
    ...inputOf(endpoint, request),
    org: request.caller?.org as KeptCall<Endpoint>["org"],
    url: deps.config.publicUrl + request.url,
    path: pathOf(request),
  };
}

/** What all routes answer with. */
interface Answering {
  sender: AnswerSender;
  keeper: AnswerKeeper;
  sourceOf: Source;
}

function routeHandler(
  deps: Deps,
  mounted: Mounted,
  [operationId, endpoint]: readonly [string, Endpoint],
  { sender, keeper, sourceOf }: Answering,
): RouteHandlerMethod {
  const handler = mounted.handlers[operationId] as (
    deps: Deps,
    call: Call<Endpoint>,
  ) => Promise<Reply<Endpoint>>;
  const csv = csvAnswerOf(mounted, operationId, endpoint);
  return async (request, reply) => {
    const wantsCsv = csv !== undefined && prefersCsv(request.headers.accept);
    if (endpoint.kept === true && !wantsCsv) {
      const make = async () =>
        handler(
          depsOf(await sourceOf(endpoint, reply), request),
          keptCall(deps, endpoint, request) as Call<Endpoint>,
        );
      request.work?.received();
      const answer = await keeper.answer(request, make).finally(() => request.work?.handled());
      return answer instanceof KeptAnswer
        ? sender.sendKept(request, reply, answer, endpoint)
        : sender.send(request, reply, answer, endpoint);
    }
    const { params, query, received } = await receive(deps, endpoint, request);
    request.work?.received();
    let answer: Reply<Endpoint>;
    try {
      const body = await bodyInTime(endpoint.body, request, received);
      const call = {
        params,
        query,
        body,
        files: received.files,
        org: request.caller?.org,
        principal: request.caller?.principal,
        admission: request.admission ?? undefined,
        actor: actorOf(request, operationId, received.digest),
        authorizeAgain: request.authorizeAgain,
        peer: peerOf(deps, request),
        bodyBytes: received.bytes,
        url: deps.config.publicUrl + request.url,
        path: pathOf(request),
        headers: request.headers,
      } as Call<Endpoint>;
      if (csv !== undefined && wantsCsv) {
        const pieces = csvPieces(csv.form, await csv.rows(depsOf(deps, request), call));
        request.work?.handled();
        const headers = csvHeaders(csv.form, call.org);
        return await sender.sendLong(request, reply, { status: 200, headers, pieces }, endpoint);
      }
      answer = await handler(depsOf(await sourceOf(endpoint, reply), request), call);
    } finally {
      request.work?.handled();
      await received.discard?.();
    }
    return sender.send(request, reply, answer, endpoint);
  };
}

/** Seconds after which callers may ask again whether the time is right. */
const timeRetry = "15";

/**
 * Refuses to record anything while the time is in doubt.
 * @throws AppError unavailable when the endpoint records something and it is.
 */
async function requireRightTime(deps: Deps, endpoint: Endpoint, reply: FastifyReply): Promise<void> {
  if (endpoint.method === "GET" || endpoint.recordsNothing === true) return;
  const why = await deps.time.refusal();
  if (why === undefined) return;
  reply.header("retry-after", timeRetry);
  throw new AppError("unavailable", why, { logged: true });
}

/** What nobody needs more of to sign in. Whoever sends it is a stranger. */
const strangersBodyLimit = 16 * 1024;

/** The most bytes of a body, where it is less than the server's own limit. */
function bodyLimitOf({ access, body }: Endpoint): { bodyLimit?: number } {
  if (body?.kind === "raw") return { bodyLimit: body.maxBytes };
  return access.kind === "site" ? { bodyLimit: strangersBodyLimit } : {};
}

/** Asks the endpoint's gate, if it has one, about everything but the body. */
async function admit(deps: Deps, gate: Gate | undefined, request: FastifyRequest, endpoint: Endpoint) {
  if (gate === undefined) return null;
  const principal = request.caller?.principal;
  return gate(deps, { params: pathParams(endpoint, request), headers: request.headers, principal });
}

/** Says what a request tries, as far as its head tells. */
function attemptOf(
  deps: Deps,
  site: Site,
  request: FastifyRequest,
  [operationId, endpoint]: readonly [string, Endpoint],
): Attempt {
  const { org } = request.params as { org?: string };
  return {
    authorization: request.headers.authorization,
    cookie: readCookie(site, request.headers.cookie),
    isFromSite: () => comesFromSite(site, request),
    access: endpoint.access,
    needsRecentSignIn: needsRecentSignIn(endpoint),
    org: org !== undefined && isStorable(org) ? org : undefined,
    path: pathOf(request),
    address: request.clientAddress,
    onWrongAddress: refusalTo(deps, request, operationId),
  };
}

/** What was found out of a caller is believed for no longer, in milliseconds: a body may take a quarter of an hour to come, and keys are revoked meanwhile. */
const believedMs = 1_000;

/**
 * Turns every endpoint of the contract into a route: authenticate and authorize before the body is read, then parse,
 * call the handler, send. An endpoint whose handler is missing is an error at start.
 * @param version of the program.
 */
export function mountEndpoints(app: FastifyInstance, deps: Deps, mounted: Mounted, version: string): void {
  const site = siteOf(deps.config.publicUrl);
  app.decorateRequest("caller", null);
  app.decorateRequest("authorizeAgain", null);
  const kept = new KeptAnswers(deps.config.keptAnswerBytes, deps.clock);
  showKeptAnswers(deps.metrics, kept);
  const keeper = new AnswerKeeper(kept);
  const answering = {
    keeper,
    sender: createSender(app, deps, { program: version, keeper }),
    sourceOf: createSource(deps),
  };
  app.decorateRequest("admission", null);
  app.decorateRequest("requireStill", null);
  for (const [operationId, endpoint] of Object.entries(mounted.endpoints)) {
    if (mounted.handlers[operationId] === undefined) throw new Error(`No handler for ${operationId}`);
    const gate = mounted.gates[operationId];
    if (endpoint.access.kind === "signature" && gate === undefined)
      throw new Error(`No gate for ${operationId}`);
    app.route({
      method: endpoint.method,
      url: routeUrl(endpoint.path),
      ...bodyLimitOf(endpoint),
      config: {
        operationId,
        raw: endpoint.body?.kind === "raw",
        summaries: summariesOf(endpoint.body),
        exact: exactPlacesOf(endpoint.body),
        isStream: endpoint.responses[200]?.contentType === eventStreamType,
      },
      onRequest: async (request, reply) => {
        beginTrace(deps, request, reply);
        beginWork(deps, request);
        const attempt = attemptOf(deps, site, request, [operationId, endpoint]);
        request.caller = await authorizeRequest(deps, request, attempt);
        const authorizeAgain = (): Promise<Caller> => authorize(deps, attempt);
        request.authorizeAgain = authorizeAgain;
        if (request.caller.principal !== undefined) mounted.keyUse.used(request.caller.principal);
        request.admission = await admit(deps, gate, request, endpoint);
        const foundAt = performance.now();
        request.requireStill = async () => {
          if (performance.now() - foundAt < believedMs) return;
          request.caller = await authorizeAgain();
          request.admission = await admit(deps, gate, request, endpoint);
        };
        await requireRightTime(deps, endpoint, reply);
        request.work?.authorized();
      },
      handler: routeHandler(deps, mounted, [operationId, endpoint], answering),
    });
  }
}
