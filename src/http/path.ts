import type { FastifyRequest } from "fastify";

/** Reads the path of a request, as it was sent, without the query. */
export function pathOf(request: FastifyRequest): string {
  const [path = ""] = request.url.split("?", 1);
  return path;
}
