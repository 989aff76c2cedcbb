import type { FastifyInstance } from "fastify";

/** Whether the server can do its work. */
export interface Health {
  /**
   * Why it cannot, as a sentence without its end; undefined when it can. It cannot while starting and stopping, without the
   * database, and while nothing can be written.
   */
  problem(): Promise<string | undefined>;
}

/**
 * Serves `/live` and `/ready`. `/live` answers as long as the process does; `/ready` when requests can be served. Both answer the bare text `OK`,
 * which clients print as it is.
 */
export function registerHealth(app: FastifyInstance, health: Health): void {
  app.get("/live", async (_request, reply) => reply.type("text/plain; charset=utf-8").send("OK"));
  app.get("/ready", async (_request, reply) => {
    const problem = await health.problem();
    if (problem === undefined) return reply.type("text/plain; charset=utf-8").send("OK");
    return reply
      .code(503)
      .header("retry-after", "1")
      .type("application/json; charset=utf-8")
      .send(JSON.stringify({ message: `Not ready: ${problem}` }));
  });
}
