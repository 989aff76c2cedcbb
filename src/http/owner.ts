import type { FastifyRequest } from "fastify";

/** Names who asked: callers are served in turn. */
export function ownerOf(request: FastifyRequest): string {
  const principal = request.caller?.principal;
  return principal?.api_key_id ?? principal?.session_id ?? request.clientAddress;
}
