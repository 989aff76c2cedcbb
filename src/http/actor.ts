import type { FastifyRequest } from "fastify";

import type { Actor } from "../domain/principal.ts";
import { recordWrongAddress } from "../modules/kernel/access/refusal-service.ts";
import type { RefusedCaller } from "../modules/kernel/access/service.ts";
import type { Deps } from "../modules/kernel/deps.ts";

/** Says who does what, as records name it: nobody known before the caller of the request is found. */
export function actorOf(request: FastifyRequest, operationId: string, digest: Buffer | null): Actor {
  const principal = request.caller?.principal;
  return {
    kind: principal?.kind ?? "system",
    id: principal?.id ?? null,
    name: principal?.display_name ?? "anonymous",
    api_key_id: principal?.api_key_id ?? null,
    action: operationId,
    request_id: request.id,
    request_digest: digest,
    address: request.clientAddress,
  };
}

/** Has it recorded that the caller came from an address their key or session does not work from. */
export function refusalTo(
  deps: Deps,
  request: FastifyRequest,
  operationId: string,
): (refused: RefusedCaller) => Promise<void> {
  return (refused) =>
    recordWrongAddress(deps, refused, {
      address: request.clientAddress,
      actor: actorOf(request, operationId, null),
    });
}
