import type { FastifyRequest } from "fastify";

import { addressShare } from "./client-address.ts";

/** Names who asked: callers are served in turn. A stranger is the network the request came from. */
export function ownerOf(request: FastifyRequest): string {
  const principal = request.caller?.principal;
  return principal?.api_key_id ?? principal?.session_id ?? addressShare(request);
}
