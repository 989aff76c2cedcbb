import type { FastifyInstance } from "fastify";

import { answerRoute, isRouteAsked, routeHeader } from "../domain/route.ts";
import { instanceAdminOrMetrics } from "../contract/access.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { refusalTo } from "./actor.ts";
import { authorizeRequest } from "./authorize-request.ts";
import { pathOf } from "./path.ts";
import { routeOf } from "./client-address.ts";

/** Whether the server can do its work. */
export interface Health {
  /**
   * Why it cannot, as a sentence without its end; undefined when it can. It cannot while starting and stopping, without the
   * database, and while nothing can be written.
   */
  problem(): Promise<string | undefined>;
}

/**
 * Serves `/live`, `/ready` and `/health`. `/live` answers as long as the process does; `/ready` when requests can be served. Both answer the bare text `OK`,
 * which clients print as it is; `/live` tells `waybill doctor` by which way it was asked, too. `/health` is the operation `instance_health`, for servers that answer no others as well.
 */
export function registerHealth(app: FastifyInstance, deps: Deps, health: Health): void {
  app.get("/live", async (request, reply) => {
    const question = request.headers[routeHeader];
    if (typeof question === "string" && isRouteAsked(deps.secrets, question, deps.clock.now()))
      reply.header(routeHeader, answerRoute(routeOf(request)));
    return reply.type("text/plain; charset=utf-8").send("OK");
  });
  app.get("/ready", async (_request, reply) => {
    const problem = await health.problem();
    if (problem === undefined) return reply.type("text/plain; charset=utf-8").send("OK");
    return reply
      .code(503)
      .header("retry-after", "1")
      .type("application/json; charset=utf-8")
      .send(JSON.stringify({ message: `Not ready: ${problem}` }));
  });
  app.get("/health", async (request, reply) => {
    await authorizeRequest(deps, request, {
      authorization: request.headers.authorization,
      cookie: undefined,
      isFromSite: () => false,
      access: instanceAdminOrMetrics,
      org: undefined,
      needsRecentSignIn: false,
      path: pathOf(request),
      address: request.clientAddress,
      onWrongAddress: refusalTo(deps, request, "instance_health"),
    });
    return reply.type("application/json; charset=utf-8").send(JSON.stringify(await deps.health.report()));
  });
}
