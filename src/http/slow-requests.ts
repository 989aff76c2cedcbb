import type { FastifyInstance, FastifyRequest } from "fastify";
import { Counter } from "prom-client";

import { StatementTrace } from "../db/statement-trace.ts";
import type { Span } from "../lib/tracing/tracing.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { tracedDeps } from "../modules/kernel/traced-deps.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What is noted of the request for the case that it turns out slow, or for its trace; null where that is of no interest. */
    work: RequestWork | null;
  }
}

/** What the server did for a request, and when. */
class RequestWork {
  readonly trace: StatementTrace;
  readonly #began = performance.now();
  #authorizedMs = 0;
  #received = 0;
  #handledMs = 0;

  /** @param span of the request; undefined where there are no traces. */
  constructor(span: Span | undefined) {
    this.trace = new StatementTrace(span);
  }

  /** It is known who asks. What comes next is the body, which takes as long as its sender likes. */
  authorized(): void {
    this.#authorizedMs = performance.now() - this.#began;
    this.trace.span?.child("authorize", { began: this.#began }).end();
  }

  /** The body is there. */
  received(): void {
    this.#received = performance.now();
  }

  /** It is known what to answer, the first time this is called. How long that takes to be sent depends on who reads it. */
  handled(): void {
    if (this.#received === 0 || this.#handledMs !== 0) return;
    this.#handledMs = performance.now() - this.#received;
  }

  get ms(): { authorize: number; handle: number } {
    return { authorize: this.#authorizedMs, handle: this.#handledMs };
  }
}

/** Begins to note what a request takes, unless nobody wants to know, or it waits for something to happen. */
export function beginWork({ config }: Pick<Deps, "config">, request: FastifyRequest): void {
  const span = request.span ?? undefined;
  if (config.slowMs === undefined && span?.isRecorded !== true) return;
  if (isWaiting(request)) return;
  request.work = new RequestWork(span);
}

/** Says whether a request is answered when there is something to tell, however long that takes. */
export function isWaiting(request: FastifyRequest): boolean {
  return (
    request.routeOptions.config.isStream === true ||
    (request.query as { follow?: unknown }).follow !== undefined
  );
}

/** Gives what a handler works with: statements that it runs are noted for its request. */
export function depsOf(deps: Deps, { work }: FastifyRequest): Deps {
  if (work === null) return deps;
  return tracedDeps(deps, work.trace);
}

const rounded = (ms: number): number => Math.round(ms * 10) / 10;

/** Statements, by name, that a line tells of. */
const mostNames = 20;

/** Writes a warning for each request for which the server worked longer than it may, with names of statements and no values. */
export function registerSlowRequests(app: FastifyInstance, { config, metrics }: Deps): void {
  const { slowMs } = config;
  const slow = new Counter<"org">({
    name: "waybill_slow_requests_total",
    help: "Requests for which the server worked longer than WAYBILL_SLOW_MS",
    labelNames: metrics.orgs.names,
    registers: [metrics.registry],
  });
  app.decorateRequest("work", null);
  if (slowMs === undefined) return;
  app.addHook("onResponse", async (request, reply) => {
    const { work } = request;
    if (work === null) return;
    const { authorize, handle } = work.ms;
    if (authorize + handle < slowMs) return;
    slow.inc(metrics.orgs.of(request.caller?.org?.name));
    const sums = work.trace.sums();
    request.log.warn(
      {
        operation: request.routeOptions.config.operationId,
        status: reply.statusCode,
        ms: rounded(authorize + handle),
        authorize_ms: rounded(authorize),
        handle_ms: rounded(handle),
        connection_wait_ms: rounded(work.trace.waitedMs),
        statements: sums.slice(0, mostNames).map((sum) => ({ ...sum, ms: rounded(sum.ms) })),
        more_statements: work.trace.more + sums.slice(mostNames).reduce((all, { times }) => all + times, 0),
      },
      "slow request",
    );
  });
}
