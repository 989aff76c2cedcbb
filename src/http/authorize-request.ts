import type { FastifyRequest } from "fastify";

import {
  type Attempt,
  authorize,
  type Caller,
  certificateNeeded,
  hasMetricsToken,
  readKey,
  unauthenticated,
} from "../modules/kernel/access/service.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { keptByProgram } from "../modules/kernel/program-deps.ts";
import { isFromThisMachine } from "./client-address.ts";
import { createGuessLimit } from "./guess-limit.ts";
import { mayUseKeys } from "./tls.ts";

const limitOf = keptByProgram(createGuessLimit);

/** Holds that a key comes on a connection on which keys count; sessions, the token for metrics and what needs no key are not concerned. @throws AppError. */
function requireCertificateForKey(deps: Deps, request: FastifyRequest): void {
  const { authorization } = request.headers;
  const isKey = readKey(authorization) !== undefined;
  if (isKey && !hasMetricsToken(deps.config.metricsToken, authorization) && !mayUseKeys(deps, request))
    throw certificateNeeded();
}

/**
 * Authenticates and authorizes a request, on whichever route it comes: a key counts only with a client certificate where one is needed, and what does not
 * work is counted for its address, together.
 * @throws AppError unauthenticated without that certificate, rate_limited for an address that brought too much that does not work; and what `authorize` does.
 */
export async function authorizeRequest(
  deps: Deps,
  request: FastifyRequest,
  attempt: Attempt,
): Promise<Caller> {
  requireCertificateForKey(deps, request);
  return limitOf(deps).authenticate(request, attempt, () => authorize(deps, attempt));
}

/**
 * Holds that a request has the token for metrics or, where none is set, comes from this machine. A wrong one counts for its address together with keys that
 * do not work; the right one is answered however many those were.
 * @throws AppError unauthenticated; rate_limited for an address that brought too much that does not work.
 */
export function requireMetricsToken(deps: Deps, request: FastifyRequest): void {
  const { metricsToken: token } = deps.config;
  const { authorization } = request.headers;
  if (token === undefined ? isFromThisMachine(request) : hasMetricsToken(token, authorization)) return;
  if (token !== undefined && authorization !== undefined) limitOf(deps).count(request);
  throw unauthenticated();
}
