import type { IncomingMessage, ServerResponse } from "node:http";

import type { FastifyInstance, FastifyRequest } from "fastify";

import type { IntakeLimits } from "../config-limits.ts";
import { AppError } from "../domain/errors.ts";
import { type BodyAccount, BodyBudget, type Owner } from "./body-budget.ts";
import { BodyWatch, type CutReason, sweepEveryMs } from "./body-watch.ts";
import { addressShare } from "./client-address.ts";
import type { IntakeMetrics } from "./intake-metrics.ts";
import { isUnfinished, stayForTheRest } from "./unread-body.ts";
import { whenGone } from "./when-gone.ts";

declare module "fastify" {
  interface FastifyInstance {
    intake: Intake;
  }
  interface FastifyRequest {
    /** What of the body is in memory; null before anything was read. */
    bodyAccount: BodyAccount | null;
  }
}

const cutTexts: Record<CutReason, string> = {
  stalled: "Request body stopped arriving",
  slow: "Request body arrives too slowly",
  long: "Request body took too long to arrive",
};

/** Says whose memory the body of a request takes. */
export function ownerOf(request: FastifyRequest): Owner {
  const { principal, org } = request.caller ?? {};
  if (principal !== undefined)
    return { pool: "callers", share: org?.role === undefined ? `user ${principal.id}` : `org ${org.id}` };
  const { admission } = request;
  return { pool: "strangers", share: admission?.share ?? addressShare(request) };
}

/** The account of a request whose connection has ended: nobody would close one that is opened later. */
const closedAccount: BodyAccount = { take: () => {}, give: () => {}, close: () => {} };

/** One body while it is received. */
export interface Reception {
  /** Counts bytes that came from the connection. They are in memory until `gone`. */
  arrived(bytes: number): void;
  /** Counts bytes that went on to the disk. */
  gone(bytes: number): void;
  /** What arrives from now on is not kept, and not counted. */
  drop(): void;
  /** No more is wanted of it. What arrived is held until the request is answered. */
  end(): void;
}

/** Receives the bodies of all requests, within limits of memory and time. */
class Intake {
  readonly budget: BodyBudget;
  readonly #watch: BodyWatch;
  readonly #limits: IntakeLimits;
  readonly #metrics: IntakeMetrics;
  /** Requests whose senders wait to be asked for the body, and whether their connections stay open. */
  readonly #expecting = new WeakMap<IncomingMessage, { response: ServerResponse; keepAlive: boolean }>();
  readonly #timer: NodeJS.Timeout;

  constructor(limits: IntakeLimits, metrics: IntakeMetrics) {
    this.#limits = limits;
    this.#metrics = metrics;
    this.budget = new BodyBudget(limits, (reason) => metrics.refusedBodies.inc({ reason }));
    this.#watch = new BodyWatch(limits);
    this.#timer = setInterval(() => this.#watch.sweep(), sweepEveryMs).unref();
  }

  /**
   * Begins to receive the body of a request: asks for it if the sender waits for that.
   * @param refuse is called when it has to end early: AppError timeout for one that is too slow, unavailable for want of room.
   */
  begin(request: FastifyRequest, refuse: (error: AppError) => void): Reception {
    const account = (request.bodyAccount ??= this.budget.open(ownerOf(request)));
    const watched = this.#watch.watch(request.raw, (reason) => {
      this.#metrics.refusedBodies.inc({ reason });
      refuse(new AppError("timeout", cutTexts[reason]));
    });
    this.#invite(request.raw);
    let dropped = false;
    return {
      arrived: (bytes) => {
        watched.arrived(bytes);
        if (dropped) return;
        try {
          account.take(bytes);
        } catch (error) {
          refuse(error as AppError);
        }
      },
      gone: (bytes) => account.give(bytes),
      drop: () => {
        dropped = true;
      },
      end: () => watched.end(),
    };
  }

  /** Notes that a sender waits for leave to send its body: whoever is refused need not send it at all. */
  expect(request: IncomingMessage, response: ServerResponse): void {
    this.#expecting.set(request, { response, keepAlive: response.shouldKeepAlive });
    // Whether a body follows an answer that comes before, nobody knows.
    response.shouldKeepAlive = false;
  }

  /** Ends what belongs to an answered request, whose body may still be on its way. */
  answered(request: FastifyRequest): void {
    request.bodyAccount?.close();
    if (isUnfinished(request.raw) && !request.raw.destroyed)
      stayForTheRest(request.raw, this.#limits.unreadSeconds);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #invite(raw: IncomingMessage): void {
    const expecting = this.#expecting.get(raw);
    if (expecting === undefined) return;
    this.#expecting.delete(raw);
    expecting.response.shouldKeepAlive = expecting.keepAlive;
    expecting.response.writeContinue();
  }
}

/** Makes the server receive bodies within limits. */
export function registerIntake(app: FastifyInstance, limits: IntakeLimits, metrics: IntakeMetrics): void {
  const intake = new Intake(limits, metrics);
  metrics.showBodies((pool) => intake.budget.used(pool));
  app.decorate("intake", intake);
  app.decorateRequest("bodyAccount", null);
  app.server.on("checkContinue", (request, response) => {
    intake.expect(request, response);
    app.server.emit("request", request, response);
  });
  app.addHook("onRequest", async (request, reply) => {
    // Also when the connection breaks before there is an answer, and before anything of the body was read.
    whenGone(reply, () => {
      request.bodyAccount ??= closedAccount;
      request.bodyAccount.close();
    });
  });
  app.addHook("onResponse", async (request) => intake.answered(request));
  app.addHook("onClose", async () => intake.stop());
}
