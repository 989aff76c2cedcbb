import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Counter } from "prom-client";

import type { Config } from "../config.ts";
import { AppError } from "../domain/errors.ts";
import { readCookie, siteOf } from "../domain/sessions.ts";
import { sha256 } from "../lib/hash.ts";
import { readKey } from "../modules/kernel/access/service.ts";
import type { Metrics } from "../modules/kernel/metrics.ts";
import { addressShare } from "./client-address.ts";

type Limits = Pick<Config, "publicUrl" | "rateLimitPerKey" | "rateLimitPerAddress">;

function createRefusals({ registry }: Pick<Metrics, "registry">): Counter<"limit"> {
  const refusals = new Counter({
    name: "waybill_rate_limited_total",
    help: "Requests that were refused because their key, or their address, had sent too many",
    labelNames: ["limit"],
    registers: [registry],
  });
  // Shown before the first one, so that an increase is seen from the beginning.
  for (const limit of ["key", "address"]) refusals.inc({ limit }, 0);
  return refusals;
}

/**
 * Limits requests per minute for one key and for one address, as the configuration says at the moment. Each server counts its own and allows its share, so that together
 * they allow what is set, as near as requests are spread evenly. Refusals are 429 with `Retry-After` in seconds (RFC 6585 section 4).
 * @param servers how many share the limits.
 */
export async function registerRateLimits(
  app: FastifyInstance,
  limits: Limits,
  servers: () => number,
  metrics: Pick<Metrics, "registry">,
): Promise<void> {
  const refusals = createRefusals(metrics);
  await app.register(rateLimit, { global: false });

  const check = (
    limit: "key" | "address",
    max: () => number | undefined,
    keyOf: (request: FastifyRequest) => string,
  ) => {
    const share = (): number => Math.ceil((max() ?? 0) / servers());
    const limiter = app.createRateLimit({ max: share, timeWindow: 60_000, keyGenerator: keyOf });
    return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      if (max() === undefined) return;
      const result = await limiter(request);
      if (result.isAllowed || !result.isExceeded) return;
      refusals.inc({ limit });
      reply.header("retry-after", String(result.ttlInSeconds));
      throw new AppError("rate_limited", "Too many requests, try again later");
    };
  };

  const site = siteOf(limits.publicUrl);
  /** A session counts as a key does. */
  const secretOf = ({ headers }: FastifyRequest): string | undefined =>
    headers.authorization === undefined ? readCookie(site, headers.cookie) : readKey(headers.authorization);
  const perAddress = check("address", () => limits.rateLimitPerAddress, addressShare);
  const perKey = check(
    "key",
    () => limits.rateLimitPerKey,
    (request) => {
      const secret = secretOf(request);
      return secret === undefined ? addressShare(request) : `key ${sha256(secret).toString("base64")}`;
    },
  );
  app.addHook("onRequest", async (request, reply) => {
    await perAddress(request, reply);
    if (limits.rateLimitPerKey !== undefined && secretOf(request) !== undefined) await perKey(request, reply);
  });
}
