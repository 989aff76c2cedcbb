import type { FastifyRequest } from "fastify";

import { AppError } from "../domain/errors.ts";
import { FailureLimit } from "../lib/failure-limit.ts";
import { sha256 } from "../lib/hash.ts";
import { networkOf } from "../lib/network.ts";
import { type Attempt, type Caller, hasMetricsToken, readKey } from "../modules/kernel/access/service.ts";
import type { Deps } from "../modules/kernel/deps.ts";

const windowSeconds = 60;

/** So many keys and sessions that work are remembered, by their hash; beyond that the one noted longest ago is forgotten. */
const mostKnown = 10_000;

type Credentials = Pick<Attempt, "authorization" | "cookie">;

/** Names a key or a session without holding it; undefined for a request that brings none. */
function nameOf({ authorization, cookie }: Credentials): string | undefined {
  const secret = authorization === undefined ? cookie : readKey(authorization);
  return secret === undefined ? undefined : sha256(secret).toString("base64");
}

/** Remembers which credentials worked when they were last tried. */
class Known {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  note(name: string): void {
    this.#names.add(name);
    if (this.#names.size <= mostKnown) return;
    for (const oldest of this.#names) {
      this.#names.delete(oldest);
      break;
    }
  }

  forget(name: string): void {
    this.#names.delete(name);
  }
}

/** Limits how many keys, sessions and tokens that do not work an address may bring. */
interface GuessLimit {
  /** Runs what finds out who sent a request, unless its address brought too many that do not work. @throws AppError rate_limited; and what that does. */
  authenticate(
    request: FastifyRequest,
    credentials: Credentials,
    authenticate: () => Promise<Caller>,
  ): Promise<Caller>;
  /** Counts what a request brought that is known not to work. @throws AppError rate_limited when its address had brought too many. */
  count(request: FastifyRequest): void;
}

/**
 * Makes the limit of how many keys and sessions that do not work one address, or one IPv6 network of 64 bits, may bring a minute:
 * beyond it the answer is 429 with `Retry-After` before the database is asked. Credentials that worked a moment ago are no guesses,
 * nor is the token for metrics, so that a pipeline with an old key does not keep out those beside it. Each server counts for itself.
 */
export function createGuessLimit({ config, clock }: Pick<Deps, "config" | "clock">): GuessLimit {
  const failures = new FailureLimit({
    get max() {
      return config.failedKeysPerAddress ?? 0;
    },
    windowSeconds,
  });
  const known = new Known();
  const requireRoom = (network: string): void => {
    const retryAfter = failures.refusal(network, clock.now());
    if (retryAfter !== undefined)
      throw new AppError("rate_limited", "Too many credentials that do not work, try again later", {
        retryAfter,
      });
  };
  return {
    authenticate: async (request, credentials, authenticate) => {
      const isWatcher = hasMetricsToken(config.metricsToken, credentials.authorization);
      if (config.failedKeysPerAddress === undefined || isWatcher) return authenticate();
      const name = nameOf(credentials);
      if (name === undefined) return authenticate();
      const network = networkOf(request.clientAddress);
      if (!known.has(name)) requireRoom(network);
      try {
        const caller = await authenticate();
        if (caller.principal !== undefined) known.note(name);
        return caller;
      } catch (error) {
        if (error instanceof AppError && error.kind === "unauthenticated") {
          known.forget(name);
          failures.fail(network, clock.now());
        }
        throw error;
      }
    },
    count: (request) => {
      if (config.failedKeysPerAddress === undefined) return;
      const network = networkOf(request.clientAddress);
      requireRoom(network);
      failures.fail(network, clock.now());
    },
  };
}
