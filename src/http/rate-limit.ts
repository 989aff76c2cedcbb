import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { Config } from "../config.ts";
import { AppError } from "../domain/errors.ts";
import { readCookie, siteOf } from "../domain/sessions.ts";
import { sha256 } from "../lib/hash.ts";
import { readKey } from "../modules/kernel/access/service.ts";
import { addressShare } from "./client-address.ts";

type Limits = Pick<Config, "publicUrl" | "rateLimitPerKey" | "rateLimitPerAddress"> & {
  /** How many servers share the limits. */
  servers: () => number;
};

/**
 * Limits requests per minute for one key and for one address. Each server counts its own and allows its share, so that together
 * they allow what is set, as near as requests are spread evenly. Off where no limit is set.
 * Refusals are 429 with `Retry-After` in seconds (RFC 6585 section 4).
 */
export async function registerRateLimits(app: FastifyInstance, limits: Limits): Promise<void> {
  if (limits.rateLimitPerKey === undefined && limits.rateLimitPerAddress === undefined) return;
  await app.register(rateLimit, { global: false });

  const check = (max: number, keyOf: (request: FastifyRequest) => string) => {
    const share = (): number => Math.ceil(max / limits.servers());
    const limiter = app.createRateLimit({ max: share, timeWindow: 60_000, keyGenerator: keyOf });
    return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const result = await limiter(request);
      if (result.isAllowed || !result.isExceeded) return;
      reply.header("retry-after", String(result.ttlInSeconds));
      throw new AppError("rate_limited", "Too many requests, try again later");
    };
  };

  if (limits.rateLimitPerAddress !== undefined)
    app.addHook("onRequest", check(limits.rateLimitPerAddress, addressShare));
  if (limits.rateLimitPerKey !== undefined) {
    const site = siteOf(limits.publicUrl);
    /** A session counts as a key does. */
    const secretOf = ({ headers }: FastifyRequest): string | undefined =>
      headers.authorization === undefined ? readCookie(site, headers.cookie) : readKey(headers.authorization);
    const perKey = check(limits.rateLimitPerKey, (request) => {
      const secret = secretOf(request);
      return secret === undefined ? addressShare(request) : `key ${sha256(secret).toString("base64")}`;
    });
    app.addHook("onRequest", async (request, reply) => {
      if (secretOf(request) !== undefined) await perKey(request, reply);
    });
  }
}
