import type { FastifyInstance } from "fastify";

import type { Endpoints } from "../contract/endpoint.ts";
import { apiPrefix } from "./mount.ts";

/** Matches the paths of one endpoint, whatever the method. */
function pathPattern(path: string): RegExp {
  const escaped = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  const pattern = escaped.replace(/\{\w+(?:\\\.){3}\}/g, ".+").replace(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${apiPrefix}${pattern}/?$`);
}

/**
 * Answers what no route matched: 405 with `Allow` when the path exists with other methods, else 404, in JSON always
 * (RFC 9110 section 15.5.6).
 */
export function registerNotFound(app: FastifyInstance, endpoints: Endpoints): void {
  const known = Object.values(endpoints).map(({ method, path }) => ({ method, pattern: pathPattern(path) }));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0]!;
    const allowed = new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
    const message = allowed.size === 0 ? "Not found" : "Method not allowed";
    if (allowed.size > 0) reply.header("allow", [...allowed].sort().join(", "));
    return reply
      .code(allowed.size === 0 ? 404 : 405)
      .type("application/json; charset=utf-8")
      .send(JSON.stringify({ message }));
  });
}
